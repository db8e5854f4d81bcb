//! A suite's text without the agents that nobody asks for: one case of many is judged without reading
//! the others of its suite.
//!
//! What is left out becomes an item without a word, so that every place stays where it was. Only a text is cut whose
//! lines say beyond doubt where each agent begins; of any other there is no excerpt, and the whole is
//! read.

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::ops::Range;

use crate::{Node, NodeValue, cassette_slug, plain, segment};

/// Reads the agents whose case names are wanted, and all that is not an agent. `None` where that
/// cannot be told apart, or is not right.
pub(crate) fn read(text: &str, wanted: &dyn Fn(&str) -> bool) -> Option<Node> {
    let items = outline(text)?;
    let named = || items.iter().filter_map(|item| item.name.as_ref());
    let wanted: HashSet<&str> = named()
        .filter(|name| wanted(&name.case))
        .flat_map(|name| [&*name.case, &name.stem])
        .collect();
    // Those whose recordings would have one name are wrong together.
    let asked = |name: &Name| wanted.contains(&*name.case) || wanted.contains(&*name.stem);
    let is_kept = |item: &Item| item.name.as_ref().is_none_or(asked);
    let mut excerpt = String::with_capacity(text.len());
    for item in items.iter().filter(|item| !is_kept(item)) {
        excerpt.push_str(&text[excerpt.len()..=item.lines.start + item.indent]);
        let blank = item.lines.end - excerpt.len() - 1;
        excerpt += &" ".repeat(blank);
        excerpt.push('\n');
    }
    excerpt.push_str(&text[excerpt.len()..]);
    let mut problems = Vec::new();
    let mut document = plain::read(&excerpt, &mut problems)?;
    let agents = items_of(&mut document)?;
    if agents.len() != items.len() || !problems.is_empty() {
        return None;
    }
    let read = std::mem::take(agents).into_iter().zip(&items);
    for (agent, item) in read.filter(|(_, item)| is_kept(item)) {
        if !item.lines.contains(&agent.span.start) {
            return None;
        }
        agents.push(agent);
    }
    Some(document)
}

fn items_of(document: &mut Node) -> Option<&mut Vec<Node>> {
    let NodeValue::Map(entries) = &mut document.value else {
        return None;
    };
    let mut agents = entries.iter_mut().filter(|entry| entry.key == "agents");
    match &mut agents.next()?.value.value {
        NodeValue::List(items) => Some(items),
        _ => None,
    }
}

/// An item of `agents:`.
struct Item {
    lines: Range<usize>,
    /// The column of its dash.
    indent: usize,
    /// The column of its keys.
    column: usize,
    /// What the agent is called, unless it takes more than a line to tell.
    name: Option<Name>,
    /// How often it is named; more than once is wrong, which reading it says.
    named: usize,
    /// Whether a key of it is not simply a word.
    obscure: bool,
    /// Whether the line above is the one that names it.
    open: bool,
}

/// The items of `agents:`; `None` where it takes more than lines to tell.
fn outline(text: &str) -> Option<Vec<Item>> {
    let mut items: Vec<Item> = Vec::new();
    let mut section = Section::Before;
    let mut end = 0;
    let returns = text.contains('\r');
    for line in text.split_inclusive('\n') {
        let start = end;
        end += line.len();
        let line = line.trim_end();
        if returns && line.contains('\r') {
            return None;
        }
        let rest = line.trim_start_matches(' ');
        let indent = line.len() - rest.len();
        if rest.starts_with('\t') {
            return None;
        }
        let says_nothing = rest.is_empty() || rest.starts_with('#');
        match section {
            Section::Before if without_comment(line) == "agents:" => section = Section::Begun,
            Section::Begun if !says_nothing => {
                items.push(Item::begun(indent, rest, start..end)?);
                section = Section::Within(indent);
            }
            Section::Within(of_items) if says_nothing || indent > of_items => {
                let item = items.last_mut()?;
                item.lines.end = end;
                if !says_nothing {
                    item.go_on(indent, rest)?;
                }
            }
            Section::Within(of_items) if indent == of_items && rest.starts_with('-') => {
                items.push(Item::begun(indent, rest, start..end)?);
            }
            Section::Within(_) if indent == 0 => section = Section::After,
            Section::Within(_) => return None,
            Section::Before | Section::Begun | Section::After => {}
        }
    }
    Some(items)
}

impl Item {
    /// An item of this indent whose first line this is.
    fn begun(indent: usize, line: &str, lines: Range<usize>) -> Option<Self> {
        let keys = line.strip_prefix('-')?;
        let first = keys.trim_start_matches(' ');
        if first.len() == keys.len() {
            return None;
        }
        let mut item = Self {
            lines,
            indent,
            column: indent + line.len() - first.len(),
            name: None,
            named: 0,
            obscure: false,
            open: false,
        };
        item.key(first);
        Some(item)
    }

    /// One more line of it.
    fn go_on(&mut self, indent: usize, line: &str) -> Option<()> {
        if indent < self.column {
            return None;
        }
        if indent == self.column {
            self.key(line);
        } else if self.open {
            // This is a part of the name.
            self.name = None;
        }
        Some(())
    }

    /// A key of the agent, with what stands on its line.
    fn key(&mut self, line: &str) {
        let name = line.strip_prefix("name:");
        self.open = name.is_some();
        self.named += usize::from(name.is_some());
        self.obscure |= !line.starts_with(|first: char| first.is_ascii_alphabetic());
        if self.obscure || self.named > 1 {
            self.name = None;
        } else if let Some(name) = name {
            self.name = written(name);
        }
    }
}

/// What an agent is called.
struct Name {
    case: String,
    /// What the names of its recordings begin with.
    stem: String,
}

/// Where a line stands in the file.
#[derive(Clone, Copy)]
enum Section {
    Before,
    /// Below `agents:`, above the first of them.
    Begun,
    /// In the agents, which have this indent.
    Within(usize),
    After,
}

/// What an agent is called whose name is written so, if that is a plain scalar of one line.
fn written(name: &str) -> Option<Name> {
    let name = without_comment(name).trim();
    let plain = name.starts_with(|first: char| first.is_alphanumeric())
        && !name.contains(['$', ':', '#', '\\']);
    let case = segment(name).filter(|_| plain)?;
    let stem = cassette_slug(name);
    Some(Name { case, stem })
}

/// A line without the comment at its end.
fn without_comment(line: &str) -> &str {
    line.split(" #").next().unwrap_or_default().trim_end()
}
