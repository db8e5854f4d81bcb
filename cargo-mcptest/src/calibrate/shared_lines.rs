//! Lines that many targets of a suite share: a reader needs each of them once.

use mcptest_trace::evidence::calibrate::{Line, Topic};

/// From so many targets on, a line stands above them.
const MANY: usize = 3;

/// What a target may share with others.
const TOPICS: [Topic; 3] = [Topic::Verdict, Topic::TooFew, Topic::NewAgents];

/// Takes out of the targets what most of them say alike. A target keeps a line of its own on the same topic.
pub(super) fn take_shared_lines(targets: &mut [Vec<Line>]) -> Vec<Line> {
    let mut alike = Vec::new();
    for topic in TOPICS {
        let Some(line) = most_common(targets, topic) else {
            continue;
        };
        for lines in targets.iter_mut() {
            lines.retain(|own| *own != line);
        }
        alike.push(line);
    }
    alike
}

fn most_common(targets: &[Vec<Line>], topic: Topic) -> Option<Line> {
    let of = |wanted: Topic| {
        targets
            .iter()
            .flatten()
            .filter(move |line| line.topic == wanted)
    };
    // A target with a limit that says nothing on the topic would be taken for one that agrees.
    let is_said_by_all = match topic {
        Topic::Verdict => of(topic).count() == targets.len(),
        _ => of(topic).count() == of(Topic::Limit).count(),
    };
    let count = |line: &Line| of(topic).filter(|other| *other == line).count();
    let line = of(topic).max_by_key(|line| count(line))?;
    (is_said_by_all && count(line) >= MANY).then(|| line.clone())
}
