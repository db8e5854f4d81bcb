//! The closing as text: Markdown into blocks of plain text that remember where they stood.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::html;
use super::json;

/// What a block is in the closing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum BlockKind {
    #[default]
    Paragraph,
    Heading,
    Item,
    /// A row of a table, its cells parted by `|`.
    Row,
    /// The first row of a table.
    TableHead,
}

impl BlockKind {
    /// The kind of block that an element of HTML begins.
    fn after(next: html::Break) -> Self {
        match next {
            html::Break::Paragraph => Self::Paragraph,
            html::Break::Heading => Self::Heading,
            html::Break::Item => Self::Item,
            html::Break::Row => Self::Row,
        }
    }
}

/// A run of plain text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) kind: BlockKind,
    /// Bytes in [`Document::text`].
    pub(crate) range: Range<usize>,
    /// Whether all of it is set in bold, as headings often are.
    pub(crate) bold: bool,
    /// The key of the text that it begins, which nothing before it says anything of.
    pub(crate) key: Option<Range<usize>>,
    /// Whether somebody else may say it.
    pub(crate) unsure: bool,
}

impl Block {
    /// Whether it belongs to a list or a table.
    pub(crate) fn listed(&self) -> bool {
        matches!(
            self.kind,
            BlockKind::Item | BlockKind::Row | BlockKind::TableHead
        )
    }
}

/// Longest run of signs that is kept; more says nothing, and costs segmentation its linear time.
const SIGNS: usize = 32;

/// The blocks of a closing. Code, quotations and what is struck out are left out.
#[derive(Debug, Default)]
pub(crate) struct Document {
    /// The plain text of all blocks.
    pub(crate) text: String,
    pub(crate) blocks: Vec<Block>,
    /// Whether it shows code.
    pub(crate) code: bool,
    /// Where runs of the plain text begin, and where each stood in the closing.
    map: Vec<(usize, usize)>,
    /// Where runs of the texts of a closing in JSON begin, and where each stood; where they begin themselves.
    texts: Vec<(usize, usize)>,
    base: usize,
    /// The key of the text that begins, and whether somebody else may say it.
    key: Option<Range<usize>>,
    unsure: bool,
    /// Signs since the last letter or digit.
    signs: usize,
    /// The block that is read: where it begins, what it is, whether any of it is not bold.
    start: usize,
    kind: BlockKind,
    plain: bool,
    /// How many elements are open that are left out, that are items, that are bold.
    skipped: usize,
    /// How many of those that are left out stand within a line: `<del>`.
    hidden: usize,
    items: usize,
    strong: usize,
}

impl Document {
    /// Reads a closing.
    pub(crate) fn read(closing: &str) -> Self {
        let mut document = Self::default();
        let Some(texts) = json::texts(closing) else {
            document.add(closing);
            return document;
        };
        for text in texts {
            document.base = document.texts.last().map_or(0, |run| run.0 + 1);
            let base = document.base;
            let runs = text.map.iter().map(|(plain, stood)| (base + plain, *stood));
            document.texts.extend(runs);
            document.start = document.text.len();
            document.push(&text.key, 0);
            document.key = Some(document.start..document.text.len());
            document.unsure = text.unsure;
            document.push("\n", 0);
            document.start = document.text.len();
            document.add(&text.read);
        }
        document
    }

    /// Reads a text in Markdown.
    fn add(&mut self, text: &str) {
        let options =
            Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
        for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
            match event {
                Event::Start(Tag::HtmlBlock)
                    if self.skipped == 0 && html::is_told(text, &text[range.clone()]) =>
                {
                    self.flush(BlockKind::Paragraph);
                    self.add_html(&text[range.clone()], range.start);
                    self.skipped += 1;
                }
                Event::Start(tag) => self.enter(&tag),
                Event::End(tag) => {
                    // What is left open hides no more than its paragraph.
                    if matches!(tag, TagEnd::Paragraph | TagEnd::Item | TagEnd::Heading(_)) {
                        self.skipped -= std::mem::take(&mut self.hidden).min(self.skipped);
                    }
                    self.leave(tag, &range);
                }
                Event::InlineHtml(tag) => match html::hides(&tag) {
                    Some(true) => (self.skipped, self.hidden) = (self.skipped + 1, self.hidden + 1),
                    Some(false) if self.hidden > 0 => {
                        (self.skipped, self.hidden) = (self.skipped - 1, self.hidden - 1);
                    }
                    _ => {}
                },
                _ if self.skipped > 0 => {}
                Event::Text(text) => self.write(&text, range.end.saturating_sub(text.len())),
                Event::Code(text) => self.write(&text, range.start + 1),
                Event::SoftBreak | Event::HardBreak => self.push("\n", range.start),
                Event::TaskListMarker(done) => {
                    self.push(if done { "☑ " } else { "☐ " }, range.start);
                }
                _ => {}
            }
        }
        self.flush(BlockKind::Paragraph);
        (self.skipped, self.items, self.strong) = (0, 0, 0);
    }

    /// Reads a block of HTML.
    fn add_html(&mut self, block: &str, source: usize) {
        for part in html::parts(block) {
            match part {
                html::Part::Text(text, at) => self.write(&text, source + at),
                html::Part::Ends(next) => self.flush(BlockKind::after(next)),
                html::Part::Bold(opens) if opens => self.strong += 1,
                html::Part::Bold(_) => self.strong = self.strong.saturating_sub(1),
            }
        }
    }

    /// The bytes of the closing that a range of the plain text came from.
    pub(crate) fn source(&self, range: &Range<usize>) -> Range<usize> {
        let stood = |map: &[(usize, usize)], plain: usize| {
            let run = map.partition_point(|(start, _)| *start <= plain);
            let (start, source) = run.checked_sub(1).map_or((0, 0), |run| map[run]);
            source + (plain - start)
        };
        // The end belongs to the last byte's run, not to the one that begins after it.
        let last = range.end.saturating_sub(1).max(range.start);
        let (start, end) = (stood(&self.map, range.start), stood(&self.map, last) + 1);
        stood(&self.texts, start)..stood(&self.texts, end)
    }

    fn write(&mut self, text: &str, source: usize) {
        // A line that begins with a sign of its own, `• …` or `✅ …`, is an item too.
        let sign = |c: char| !(c.is_alphanumeric() || c.is_ascii() || "“”‘’„«»€£".contains(c));
        if self.text.ends_with('\n') && text.starts_with(sign) {
            self.flush(BlockKind::Item);
        }
        // A line that goes on in lower case was only wrapped.
        let goes_on = self.text.len() > self.start && self.text.ends_with('\n');
        if goes_on && text.starts_with(char::is_lowercase) {
            self.text.pop();
            self.text.push(' ');
        }
        self.plain |= self.strong == 0 && !text.trim().is_empty();
        self.push(text, source);
    }

    fn push(&mut self, text: &str, source: usize) {
        let mut from = 0;
        while from < text.len() {
            let most = text[from..].find(|sign: char| {
                self.signs = (self.signs + 1) * usize::from(!sign.is_alphanumeric());
                self.signs > SIGNS
            });
            let end = most.map_or(text.len(), |most| from + most);
            let (plain, stood) = (self.text.len(), self.base + source + from);
            let last = self.map.last();
            let follows = last.is_some_and(|(start, source)| plain + source == stood + start);
            if from < end && !follows {
                self.map.push((plain, stood));
            }
            self.text.push_str(&text[from..end]);
            let next = text[end..].find(char::is_alphanumeric);
            from = next.map_or(text.len(), |next| end + next);
        }
    }

    fn enter(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::CodeBlock(_) | Tag::BlockQuote(_) | Tag::HtmlBlock => {
                self.flush(BlockKind::Paragraph);
                self.code |= matches!(tag, Tag::CodeBlock(_));
                self.skipped += 1;
            }
            Tag::Strikethrough | Tag::Image { .. } => self.skipped += 1,
            Tag::Strong => self.strong += 1,
            Tag::Item => {
                self.flush(BlockKind::Item);
                self.items += 1;
            }
            Tag::Paragraph if self.items > 0 => self.flush(BlockKind::Item),
            Tag::Paragraph | Tag::List(_) => self.flush(BlockKind::Paragraph),
            Tag::Heading { .. } => self.flush(BlockKind::Heading),
            Tag::TableHead => self.flush(BlockKind::TableHead),
            Tag::TableRow => self.flush(BlockKind::Row),
            _ => {}
        }
    }

    fn leave(&mut self, tag: TagEnd, range: &Range<usize>) {
        match tag {
            TagEnd::CodeBlock
            | TagEnd::BlockQuote(_)
            | TagEnd::HtmlBlock
            | TagEnd::Strikethrough
            | TagEnd::Image => self.skipped = self.skipped.saturating_sub(1),
            TagEnd::Strong => self.strong = self.strong.saturating_sub(1),
            TagEnd::TableCell => self.push(" | ", range.end.saturating_sub(1)),
            TagEnd::Item => {
                self.flush(BlockKind::Paragraph);
                self.items = self.items.saturating_sub(1);
            }
            TagEnd::Paragraph
            | TagEnd::Heading(_)
            | TagEnd::TableRow
            | TagEnd::TableHead
            | TagEnd::List(_) => self.flush(BlockKind::Paragraph),
            _ => {}
        }
    }

    /// Ends the block that is read, and begins one of a kind.
    fn flush(&mut self, next: BlockKind) {
        let range = self.start..self.text.len();
        if !self.text[range.clone()].trim().is_empty() {
            let block = Block {
                kind: self.kind,
                range,
                bold: !self.plain,
                key: self.key.take(),
                unsure: self.unsure,
            };
            self.blocks.push(block);
            let last = self.map.last().map_or(0, |run| run.1);
            self.push("\n", last.saturating_sub(self.base));
        }
        self.start = self.text.len();
        self.kind = next;
        self.plain = false;
        self.signs = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(closing: &str) -> Vec<(BlockKind, String)> {
        let document = Document::read(closing);
        let text = |block: &Block| document.text[block.range.clone()].trim().to_owned();
        document
            .blocks
            .iter()
            .map(|block| (block.kind, text(block)))
            .collect()
    }

    #[test]
    fn blocks_are_known_for_what_they_are() {
        let found = blocks(
            "# Done\n- a **b**\n- c\n\n> said\n\n```\ncode\n```\n| x | y |\n|-|-|\n| 1 | 2 |\n",
        );
        let kinds: Vec<BlockKind> = found.iter().map(|block| block.0).collect();
        assert_eq!(
            kinds,
            [
                BlockKind::Heading,
                BlockKind::Item,
                BlockKind::Item,
                BlockKind::TableHead,
                BlockKind::Row
            ]
        );
        assert_eq!(found[4].1, "1 | 2 |");
    }

    #[test]
    fn html_is_read_as_text() {
        let found = blocks(
            "<h2>Done</h2>\n<p>Your order has been\n<b>cancelled</b> &amp; refunded.</p><ul><li>one<li>two</ul>\n\
             <table><tr><th>x</th></tr><tr><td>a</td><td>b</td></tr></table>",
        );
        let expected = [
            (BlockKind::Heading, "Done"),
            (
                BlockKind::Paragraph,
                "Your order has been cancelled & refunded.",
            ),
            (BlockKind::Item, "one"),
            (BlockKind::Item, "two"),
            (BlockKind::Row, "x |"),
            (BlockKind::Row, "a | b |"),
        ];
        let expected = expected.map(|(kind, text)| (kind, text.to_owned()));
        assert_eq!(found, expected);
    }

    #[test]
    fn html_that_is_no_prose_is_left_out() {
        for closing in [
            "<!-- I have cancelled it. -->",
            "<blockquote>I have cancelled it.</blockquote>",
            "<pre>I have cancelled it.</pre>",
            "<script>\nI have cancelled it.\n</script>",
            "Here is the page:\n\n<!DOCTYPE html><html><body><p>I have cancelled it.</p></body></html>",
            "<p title=\"I have cancelled it.\"></p>",
        ] {
            assert!(
                !Document::read(closing).text.contains("cancelled"),
                "{closing}"
            );
        }
    }

    #[test]
    fn a_place_in_html_is_a_place_in_the_closing() {
        let closing = "<p>I have &quot;<i>cancelled</i>&quot; it.</p>";
        let document = Document::read(closing);
        let at = document.text.find("cancelled").unwrap();
        assert_eq!(&closing[document.source(&(at..at + 9))], "cancelled");
    }

    #[test]
    fn a_place_in_the_text_is_a_place_in_the_closing() {
        let closing = "- I **have** `cancelled` order &amp; *all*.";
        let document = Document::read(closing);
        let at = document.text.find("cancelled").unwrap();
        assert_eq!(&closing[document.source(&(at..at + 9))], "cancelled");
        let at = document.text.find("all").unwrap();
        assert_eq!(&closing[document.source(&(at..at + 3))], "all");
    }
}
