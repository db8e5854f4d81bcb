//! A gate's `expect:` against what the gate computes.

use mcptest_suite::model::{Assertion, GateKind, Segment};
use mcptest_suite::read::{Problems, check_demand, gate_list, refuse_snapshots};
use mcptest_suite::{Diagnostic, Node, nearest, quoted_list};

use crate::eval::Measure;

/// Reads what must hold of a gate's targets.
pub(super) fn read_expect(
    kind: GateKind,
    targets: &[Measure],
    node: &Node,
    problems: &mut Problems,
) -> Vec<Assertion> {
    let expect = gate_list(node, problems);
    refuse_snapshots(&expect, problems);
    for assertion in &expect {
        check_assertion(kind, targets, assertion, problems);
    }
    expect
}

/// A gate's targets are known, so a wrong one is a problem of the suite, and so is one that is asked
/// for what it always or never is.
fn check_assertion(
    kind: GateKind,
    known: &[Measure],
    assertion: &Assertion,
    problems: &mut Problems,
) {
    let target = &assertion.target;
    let names = || known.iter().map(|target| target.name);
    let longest = (1..=target.segments.len()).rev().find_map(|end| {
        let prefix = target.prefix(end);
        let found = known.iter().find(|target| target.name == prefix)?;
        Some((found, &target.segments[end..]))
    });
    let problem = |message: String| Diagnostic::at(target.span, message);
    let (gate, text) = (kind.name(), &target.text);
    problems.push(match longest {
        Some((found, rest @ [])) => return check_demand(assertion, found, rest, problems),
        Some((found, rest @ [step, ..])) if found.list => match step {
            Segment::Key(key) if key != "length" => {
                let list = found.name;
                problem(format!("`{list}` is a list and has no `{key}`")).help(format!(
                    "take an element, e.g. `{list}[0]`, or `{list}.length`"
                ))
            }
            _ => return check_demand(assertion, found, rest, problems),
        },
        Some((one, _)) => {
            let name = one.name;
            problem(format!("`{name}` is one value, so there is no `{text}`"))
                .help(format!("write `{name}`"))
        }
        None => {
            let problem = problem(format!("`{gate}` has no target `{text}`"))
                .note(format!("its targets: {}", quoted_list(names())));
            let without_gate =
                |name: &&str| name.split_once('.').is_some_and(|(_, rest)| rest == text);
            let near = names().find(without_gate);
            match near.or_else(|| nearest(text, names())) {
                Some(near) => {
                    let meant = known.iter().find(|target| target.name == near);
                    let problem = problem.help(format!("did you mean `{near}`?"));
                    match meant {
                        Some(meant) => problem.note(format!("`{near}` is {meant}")),
                        None => problem,
                    }
                }
                None => problem,
            }
        }
    });
}

/// The target that a path begins with.
pub(super) fn find_declared<'t>(targets: &'t [Measure], path: &str) -> Option<&'t Measure> {
    let named = targets.iter().filter(|target| {
        let rest = path.strip_prefix(target.name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    });
    named.max_by_key(|target| target.name.len())
}
