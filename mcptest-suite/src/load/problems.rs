//! What is wrong with a file, noted while its values are read.

use crate::{Diagnostic, Node, NodeValue, Spanned, nearest, quoted_list};

/// Where problems go while a file is read.
#[derive(Debug, Default)]
pub struct Problems(pub(crate) Vec<Diagnostic>);

impl Problems {
    /// Notes a problem.
    pub fn push(&mut self, problem: Diagnostic) {
        self.0.push(problem);
    }

    /// How many problems are noted.
    #[must_use]
    pub fn noted(&self) -> usize {
        self.0.len()
    }

    /// What was noted, in the order of noting.
    #[must_use]
    pub fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.0
    }

    /// Notes that a node is not what its key wants.
    pub fn expected(&mut self, what: &str, node: &Node) {
        let problem = mismatch(what, node);
        self.push(problem);
    }

    /// Any text.
    pub fn text(&mut self, node: &Node) -> Option<String> {
        let text = node.text().map(ToOwned::to_owned);
        if text.is_none() {
            let problem = mismatch("text", node);
            self.push(match node.value {
                NodeValue::Bool(_) => problem.help("put it in quotes if text is meant"),
                _ => problem,
            });
        }
        text
    }

    /// Why an agent is skipped: words, and no boolean that is one only by mistake.
    pub(super) fn skip_reason(&mut self, node: &Node) -> Option<Spanned<String>> {
        let reason = self.non_blank_text(node)?;
        let written = reason.value.trim().to_lowercase();
        let meant = match written.as_str() {
            "false" | "no" | "off" | "n" | "0" => {
                "remove `skip`, or write `skip: false` without quotes"
            }
            "true" | "yes" | "on" | "y" | "1" => {
                "write why, e.g. `skip: waiting for the new search tool`"
            }
            _ => return Some(reason),
        };
        let message = format!("`{}` is no reason to skip an agent", reason.value);
        self.push(Diagnostic::at(node.span, message).help(meant));
        None
    }

    /// Text with something in it.
    pub fn non_blank_text(&mut self, node: &Node) -> Option<Spanned<String>> {
        let text = self.text(node)?;
        if text.trim().is_empty() {
            let found = if text.is_empty() {
                "empty text"
            } else {
                "only white space"
            };
            let message = format!("expected text, found {found}");
            self.push(Diagnostic::at(node.span, message));
            return None;
        }
        Some(Spanned::new(text, node.span))
    }

    /// A path from the suite's folder, which is the same on every machine.
    pub(super) fn path(&mut self, node: &Node) -> Option<Spanned<String>> {
        let path = self.non_blank_text(node)?;
        let of_a_drive = path.value.get(1..2) == Some(":");
        let problem = if of_a_drive || path.value.starts_with(['/', '\\']) {
            let message = format!("`{}` is not relative to the suite", path.value);
            Diagnostic::at(node.span, message).help(
                "write the path from the suite's folder, so that it is the same on every machine",
            )
        } else if path.value.contains('\\') {
            let with_slashes = path.value.replace('\\', "/");
            Diagnostic::at(node.span, "a path needs `/` between its parts")
                .help(format!("write `{with_slashes}`: every system reads it"))
        } else {
            return Some(path);
        };
        self.push(problem);
        None
    }

    /// `true` or `false`.
    pub fn flag(&mut self, node: &Node) -> Option<bool> {
        if let NodeValue::Bool(flag) = node.value {
            return Some(flag);
        }
        let problem = mismatch("`true` or `false`", node);
        let meant = match node.text().map(str::to_lowercase).as_deref() {
            Some("yes" | "on" | "true" | "1") => Some("true"),
            Some("no" | "off" | "false" | "0") => Some("false"),
            _ => None,
        };
        self.push(match meant {
            Some(meant) => problem.help(format!("write `{meant}`, without quotes")),
            None => problem,
        });
        None
    }

    /// A whole number of at least `least`.
    pub fn count(&mut self, node: &Node, least: u64) -> Option<Spanned<u64>> {
        let count = match &node.value {
            NodeValue::Number(number, _) => number.as_u64(),
            _ => None,
        };
        match count {
            Some(count) if count >= least => Some(Spanned::new(count, node.span)),
            _ => {
                self.number_expected(&format!("a whole number, {least} or more"), node);
                None
            }
        }
    }

    /// A number within a closed range.
    pub fn number(&mut self, node: &Node, least: f64, most: f64) -> Option<f64> {
        let range = if most.is_finite() {
            format!("a number from {least} to {most}")
        } else {
            format!("a number, {least} or more")
        };
        self.number_that(node, &range, |number| (least..=most).contains(&number))
    }

    /// Any number.
    pub fn any_number(&mut self, node: &Node) -> Option<f64> {
        self.number_that(node, "a number", f64::is_finite)
    }

    /// A number above 0.
    pub fn positive(&mut self, node: &Node) -> Option<f64> {
        self.number_that(node, "a number above 0", |number| number > 0.0)
    }

    fn number_that(&mut self, node: &Node, what: &str, fits: impl Fn(f64) -> bool) -> Option<f64> {
        let number = node.number().filter(|number| fits(*number));
        if number.is_none() {
            self.number_expected(what, node);
        }
        number
    }

    /// Notes that a node is no number of the kind that its key wants.
    pub(crate) fn number_expected(&mut self, what: &str, node: &Node) {
        let problem = mismatch(what, node);
        let reads_as_number = matches!(&node.value, NodeValue::Text(text)
            if text.replace('_', "").parse::<f64>().is_ok_and(f64::is_finite));
        self.push(if reads_as_number {
            problem.help("write the number without quotes, leading zeros or separators")
        } else {
            problem
        });
    }

    /// The items of a list, which must not be empty.
    pub fn items<'n>(&mut self, node: &'n Node, of: &str) -> Option<&'n [Node]> {
        match node.items() {
            Some([]) => {
                self.push(
                    Diagnostic::at(node.span, format!("this list of {of} is empty"))
                        .help("add an entry, or remove the key"),
                );
                None
            }
            Some(items) => Some(items),
            None => {
                let problem = mismatch(&format!("a list of {of}"), node);
                self.push(match node.value {
                    NodeValue::Map(_) => problem.help("begin each entry of the list with `- `"),
                    _ => problem,
                });
                None
            }
        }
    }

    /// The items of a list that may be empty.
    pub fn any_items<'n>(&mut self, node: &'n Node, of: &str) -> &'n [Node] {
        match node.items() {
            Some(items) => items,
            None => self.items(node, of).unwrap_or_default(),
        }
    }

    /// A list of texts that may be empty.
    pub fn any_texts(&mut self, node: &Node, of: &str) -> Vec<Spanned<String>> {
        if self.one_text(node, of) {
            return Vec::new();
        }
        let items = self.any_items(node, of);
        self.each_text(items)
    }

    /// Notes one text where a list of them is wanted.
    fn one_text(&mut self, node: &Node, of: &str) -> bool {
        let text = node.text().filter(|text| !text.trim().is_empty());
        if let Some(text) = text {
            let problem = mismatch(&format!("a list of {of}"), node);
            self.push(problem.help(format!("write `[{text}]`")));
        }
        text.is_some()
    }

    fn each_text(&mut self, items: &[Node]) -> Vec<Spanned<String>> {
        let texts = items.iter().filter_map(|item| {
            let Some(name) = item.get("name").and_then(Node::text) else {
                return self.non_blank_text(item);
            };
            self.push(mismatch("text", item).help(format!("write `{name}` alone")));
            None
        });
        texts.collect()
    }

    /// A list of texts, which must not be empty.
    pub fn texts(&mut self, node: &Node, of: &str) -> Vec<Spanned<String>> {
        if self.one_text(node, of) {
            return Vec::new();
        }
        let items = self.items(node, of).unwrap_or_default();
        self.each_text(items)
    }

    /// Text, or a list of texts.
    pub(crate) fn one_or_more(&mut self, node: &Node, of: &str) -> Vec<Spanned<String>> {
        match node.items() {
            Some(_) => self.any_texts(node, of),
            None => self.non_blank_text(node).into_iter().collect(),
        }
    }

    /// A list of some of a few words, which must not be empty.
    pub fn choices<T: Copy>(&mut self, node: &Node, what: &str, choices: &[(&str, T)]) -> Vec<T> {
        let of = format!("{what}s");
        if self.one_text(node, &of) {
            return Vec::new();
        }
        let items = self.items(node, &of).unwrap_or_default().iter();
        let chosen = items.filter_map(|item| self.choice(item, what, choices));
        chosen.collect()
    }

    /// One of a few words; `other` explains a word that is none of them.
    pub fn choice<T: Copy>(&mut self, node: &Node, what: &str, choices: &[(&str, T)]) -> Option<T> {
        let text = self.non_blank_text(node)?;
        let found = choices.iter().find(|(word, _)| *word == text.value);
        if found.is_none() {
            let message = format!("unknown {what} `{}`", text.value);
            self.push(did_you_mean(
                Diagnostic::at(node.span, message),
                &text.value,
                choices.iter().map(|(word, _)| *word),
                &format!("{what}s"),
            ));
        }
        found.map(|(_, value)| *value)
    }
}

/// A node is not what its key wants.
fn mismatch(what: &str, node: &Node) -> Diagnostic {
    let message = format!("expected {what}, found {}", node.describe());
    let problem = Diagnostic::at(node.span, message);
    match node.defined {
        Some(defined) => problem.secondary_label(defined, "the anchor is here"),
        None => problem,
    }
}

/// Adds the nearest of the known words, or all of them where none is near.
pub fn did_you_mean<'a>(
    problem: Diagnostic,
    word: &str,
    known: impl Iterator<Item = &'a str> + Clone,
    plural: &str,
) -> Diagnostic {
    // A number is not a misspelt other number.
    let near = nearest(word, known.clone()).filter(|_| word.parse::<f64>().is_err());
    match near {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem.help(format!("known {plural}: {}", quoted_list(known))),
    }
}
