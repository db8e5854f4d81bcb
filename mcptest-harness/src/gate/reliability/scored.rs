//! Runs that pass by the scores of others.

use mcptest_suite::model::{Segment, Target};
use mcptest_suite::read::Problems;
use mcptest_suite::{Diagnostic, Node, escape_line};

use crate::trace::{Run, Score};

/// What an outcome that names a score begins with.
const SCORES: &str = "scores";

/// What holds of a score that does not say itself whether the run passed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Thresholds {
    pub(super) min_score: Option<f64>,
    pub(super) max_score: Option<f64>,
}

/// What the scores of one name make of a run.
pub(super) enum Scored {
    Pass,
    /// With the score that does not pass.
    Fail(String),
    /// Nobody can say: what is asked of the run, and what it has.
    Unknown {
        asks: String,
        found: String,
    },
}

/// The name of the score that an outcome names; a wrong one is noted. Nothing for what names no score.
pub(super) fn read(node: &Node, problems: &mut Problems) -> Option<Option<String>> {
    let text = node.text()?;
    let rest = text.trim().strip_prefix(SCORES)?;
    if !(rest.is_empty() || rest.starts_with(['.', '['])) {
        return None;
    }
    let path = Target::parse(text.trim(), node.span).ok();
    let segments = path.map(|path| path.segments).unwrap_or_default();
    if let [_, Segment::Key(name)] = segments.as_slice() {
        return Some(Some(name.clone()));
    }
    let message = format!("`{}` does not name one score", escape_line(text));
    let help = r#"write `scores.NAME`; a name with a dot in it is `scores["a.b"]`"#;
    problems.push(Diagnostic::at(node.span, message).help(help));
    Some(None)
}

impl Thresholds {
    /// What becomes of a run: it passes if each score of the name passes.
    pub(super) fn judge(self, name: &str, run: &Run) -> Scored {
        let shown = escape_line(name);
        let mut scores = run.trace.scores_named(name).peekable();
        if scores.peek().is_none() {
            let asks = format!("`outcome: scores.{shown}` needs that score in every recording");
            return Scored::Unknown {
                asks,
                found: "none".to_owned(),
            };
        }
        let mut counted = Scored::Pass;
        for score in scores {
            let by = escape_line(&score.by);
            match self.passes(score) {
                None => {
                    let asks = format!(
                        "`outcome: scores.{shown}` needs scores with `passed`, or the option `min_score` or `max_score`"
                    );
                    let found = format!("{} by `{by}`, which has no `passed`", score.value);
                    return Scored::Unknown { asks, found };
                }
                Some(false) => {
                    let why = format!("`scores.{shown}`: {} by `{by}`", score.value);
                    counted = Scored::Fail(why);
                }
                Some(true) => {}
            }
        }
        counted
    }

    /// Whether a score passes: as it says itself, else by its value; nothing where nobody says.
    fn passes(self, score: &Score) -> Option<bool> {
        let by_value = || {
            let least = self.min_score.is_none_or(|least| score.value >= least);
            let most = self.max_score.is_none_or(|most| score.value <= most);
            let stated = self.min_score.is_some() || self.max_score.is_some();
            stated.then_some(least && most)
        };
        score.passed.or_else(by_value)
    }
}
