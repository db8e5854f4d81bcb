//! A suite's text without the agents that nobody asks for: one case of many is judged without reading
//! the others of its suite, which would take twice as long as all the rest of it.
//!
//! Lines say no more than which agents may be left out; what stays is read by the parser, at its own
//! place. An agent is left out where its lines leave no doubt where it begins and ends, that its name
//! is another, and that it says nothing about others. Any other agent stays. Where the parser then
//! finds agents elsewhere than the lines do there is no excerpt, and the whole is read.

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::HashSet;
use std::ops::Range;

use crate::{Node, NodeValue, cassette_slug, fast_parse, segment};

/// Reads the agents whose case names are wanted, those that cannot be told from them, and all that is
/// not an agent. `None` where the whole has to be read.
pub(crate) fn read(text: &str, wanted: &dyn Fn(&str) -> bool) -> Option<Node> {
    let items = items(text)?;
    let is_wanted = |name: &&Name| wanted(&name.case);
    let asked = items.iter().filter_map(|item| item.name.as_ref());
    let stems: HashSet<&str> = asked.filter(is_wanted).map(|name| &*name.stem).collect();
    // Those whose recordings would have one name are wrong together.
    let stays = |name: &Name| is_wanted(&name) || stems.contains(&*name.stem);
    let is_kept = |item: &Item| item.name.as_ref().is_none_or(stays);
    let mut excerpt = String::with_capacity(text.len());
    for item in items.iter().filter(|item| !is_kept(item)) {
        // Its dash is left, and every place stays where it was.
        excerpt += &text[excerpt.len()..item.keys];
        excerpt += &" ".repeat(item.lines.end - item.keys - 1);
        excerpt.push('\n');
    }
    excerpt += &text[excerpt.len()..];
    let mut problems = Vec::new();
    let mut document = fast_parse::read(&excerpt, &mut problems)?;
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
struct Item<'t> {
    lines: Range<usize>,
    /// Where its keys begin, in the text and on a line.
    keys: usize,
    column: usize,
    /// The line that names the agent.
    naming: Option<&'t str>,
    /// Whether the line above is that one.
    is_open: bool,
    /// Whether it stays, whatever it is called.
    stays: bool,
    /// What it is called, if it may be left out.
    name: Option<Name>,
}

/// What an agent is called.
struct Name {
    case: String,
    /// What the names of its recordings begin with.
    stem: String,
}

/// The items of `agents:`, as far as lines tell; `None` where they do not.
fn items(text: &str) -> Option<Vec<Item<'_>>> {
    // By itself it ends a line, too.
    if text.contains('\r') && text.replace("\r\n", "").contains('\r') {
        return None;
    }
    let mut end = 0;
    let mut lines = text.split_inclusive('\n').map(|line| {
        let start = end;
        end += line.len();
        (start..end, Line::parse(line))
    });
    let is_key = |line: &str| line.split(" #").next().map(str::trim_end) == Some("agents:");
    lines.find(|(_, line)| line.indent == 0 && is_key(line.text))?;
    let (mut items, mut dashes) = (Vec::<Item<'_>>::new(), None);
    for (lines, line) in lines {
        match items.last_mut() {
            Some(item) if line.is_blank_or_comment() || Some(line.indent) > dashes => {
                item.lines.end = lines.end;
                item.add_line(&line);
            }
            None if line.is_blank_or_comment() => {}
            _ if line.text.starts_with("- ") && dashes.is_none_or(|at| at == line.indent) => {
                dashes = Some(line.indent);
                items.push(Item::start(lines, &line));
            }
            Some(_) if line.indent == 0 => break,
            _ => return None,
        }
    }
    // All names are read in one go; the empty item is for a suite of which no agent may be left out.
    let lines = items.iter().filter_map(Item::name_line);
    let listed = lines.fold("-\n".to_owned(), |listed, line| listed + "- " + line + "\n");
    let listed = fast_parse::read(&listed, &mut Vec::new())?;
    let mut listed = listed.items()?.iter().skip(1);
    for item in items.iter_mut().filter(|item| item.name_line().is_some()) {
        item.name = Name::from_node(listed.next()?);
    }
    listed.next().is_none().then_some(items)
}

impl<'t> Item<'t> {
    /// Starts an item with its first line.
    fn start(lines: Range<usize>, line: &Line<'t>) -> Self {
        let keys = lines.start + line.indent + 1;
        let mut first = Line::parse(&line.text[1..]);
        first.indent += line.indent + 1;
        let mut item = Self {
            lines,
            keys,
            column: first.indent,
            naming: None,
            is_open: false,
            stays: false,
            name: None,
        };
        item.add_line(&first);
        item
    }

    /// Adds a line to the item.
    fn add_line(&mut self, line: &Line<'t>) {
        match line.indent.cmp(&self.column) {
            _ if line.is_blank_or_comment() => {}
            Ordering::Equal => {
                let is_word = line
                    .text
                    .starts_with(|first: char| first.is_ascii_alphabetic());
                self.is_open = line.text.starts_with("name");
                // Any other key may be one of these two in other letters.
                self.stays |= !is_word
                    || line.text.starts_with("only")
                    || self.is_open && self.naming.is_some();
                self.naming = self.naming.or(self.is_open.then_some(line.text));
            }
            Ordering::Greater if !self.is_open => {}
            // The name goes on, or this is no item.
            _ => self.stays = true,
        }
    }

    /// The line that names the agent, if the agent may be left out.
    fn name_line(&self) -> Option<&'t str> {
        self.naming.filter(|_| !self.stays)
    }
}

impl Name {
    /// The name of an agent that the parser has read.
    fn from_node(agent: &Node) -> Option<Self> {
        // A variable stands for what is written elsewhere.
        let name = agent
            .get("name")?
            .text()
            .filter(|name| !name.contains('$'))?;
        Some(Self {
            case: segment(name)?,
            stem: cassette_slug(name),
        })
    }
}

/// A line without the blanks around it.
struct Line<'t> {
    indent: usize,
    text: &'t str,
}

impl<'t> Line<'t> {
    fn parse(line: &'t str) -> Self {
        let indent = line.bytes().take_while(|byte| *byte == b' ').count();
        let text = line[indent..].trim_ascii_end();
        Self { indent, text }
    }

    fn is_blank_or_comment(&self) -> bool {
        self.text.is_empty() || self.text.starts_with('#')
    }
}
