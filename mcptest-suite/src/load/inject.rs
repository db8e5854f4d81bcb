//! Reading an agent's `inject:`, its plan of faults.

use super::faults::Faults;
use super::problems::{Problems, did_you_mean};
use crate::model::Fault;
use crate::{Diagnostic, Node, Spanned};

/// The injected faults, as indices into the suite's, in order.
pub(super) fn read(node: &Node, faults: &Faults, problems: &mut Problems) -> Vec<Spanned<usize>> {
    let names = problems.one_or_more(node, "fault names");
    let mut injected: Vec<Spanned<usize>> = Vec::new();
    for name in names {
        let known = || faults.names.iter().map(String::as_str);
        let mut read = faults.read.iter();
        if let Some(index) = read.position(|fault| fault.value.name == name.value) {
            if let Some(first) = injected.iter().find(|earlier| earlier.value == index) {
                problems.push(
                    Diagnostic::new(format!("the fault `{}` is injected twice", name.value))
                        .label(name.span, "again here")
                        .secondary_label(first.span, "first here")
                        .note("the first fault that matches a call decides, so the second fault never fires")
                        .help("name it once"),
                );
            } else {
                let later = Spanned::new(index, name.span);
                if let Some(problem) = shadowed(&faults.read, &injected, &later) {
                    problems.push(problem);
                }
                injected.push(later);
            }
            continue;
        }
        // A fault that is declared with a problem is reported there.
        if known().any(|fault| fault == name.value) {
            continue;
        }
        let problem = Diagnostic::at(name.span, format!("unknown fault `{}`", name.value));
        problems.push(if faults.names.is_empty() {
            problem.help("declare it under the suite's `faults:`")
        } else {
            did_you_mean(problem, &name.value, known(), "faults")
        });
    }
    injected
}

/// What is wrong with a fault that comes after others in one plan: of the faults that fit a call
/// the first decides, so one whose every call fits an earlier one never strikes.
fn shadowed(
    faults: &[Spanned<Fault>],
    earlier: &[Spanned<usize>],
    later: &Spanned<usize>,
) -> Option<Diagnostic> {
    let fault = &faults[later.value].value;
    let covers = |wide: &Option<String>, narrow: &Option<String>| wide.is_none() || wide == narrow;
    let first = earlier.iter().find(|first| {
        let first = &faults[first.value].value;
        covers(&first.tool, &fault.tool) && covers(&first.server, &fault.server)
    })?;
    let before = &faults[first.value].value;
    let (name, other) = (&fault.name, &before.name);
    let alike = before.tool == fault.tool && before.server == fault.server;
    let message =
        format!("the fault `{name}` can never fire: the fault `{other}` takes all its calls");
    let problem = Diagnostic::new(message)
        .label(later.span, "comes later")
        .secondary_label(first.span, "the first fault that fits a call decides");
    Some(problem.help(if alike {
        "inject one of the two".to_owned()
    } else {
        format!("name `{name}` before `{other}`, or leave it out")
    }))
}
