//! A comparison as Markdown, for a pull request.

use super::names::AgentNames;
use super::row;
use super::short::ShortRow;
use super::{ShownAgents, changes, gap_lines, one_sided};
use crate::evidence::compare::rank::Rank;
use crate::evidence::compare::{AgentComparison, Comparison};
use crate::text::{
    MarkdownBlock, escape_markdown as escaped, escape_markdown_but_code as escaped_but_code,
    join_blocks, pluralize,
};

/// The head of a table.
const HEAD: &str = "|---|---|---|---|---|\n";

impl Comparison {
    /// The headline, what changed of agents, the agents of which something was found as a table, what fails first; the
    /// others, and what there is to say besides, folded below it. Names and texts of recordings are escaped.
    #[must_use]
    pub fn markdown(&self) -> String {
        join_blocks(&self.markdown_blocks(), usize::MAX, "")
    }

    /// The Markdown in pieces, the headline first.
    #[must_use]
    pub fn markdown_blocks(&self) -> Vec<MarkdownBlock> {
        let names = AgentNames::from_comparison(self);
        let (quiet, told): (Vec<_>, Vec<_>) = self
            .ranked()
            .into_iter()
            .partition(|agent| agent.rank(&self.options) == Rank::Quiet);
        let rows = |agents: &[&AgentComparison]| -> Vec<String> {
            let rows = agents.iter();
            rows.map(|agent| {
                let cells = ShortRow::from_agent(agent, self, &names).cells();
                marked(agent.rank(&self.options), cells)
            })
            .collect()
        };
        let head = line(&ShortRow::head(self).cells()) + HEAD;
        let paragraph = |text: &str| MarkdownBlock::new(format!("\n{}\n", escaped_but_code(text)));
        let headline = format!("**{}**\n", escaped_but_code(&self.headline()));
        let [changes, other_changes] = changes::markdown_blocks(self, &names);
        let mut blocks = vec![MarkdownBlock::new(headline)];
        blocks.extend(changes);
        if !self.agents.is_empty() {
            let all = ShortRow::for_suite(self).cells().map(|cell| escaped(&cell));
            blocks.push(MarkdownBlock {
                head: format!("\n{head}"),
                rows: [rows(&told), vec![line(&all)]].concat(),
                tail: String::new(),
            });
        }
        let lines = told.iter().flat_map(|agent| {
            let name = names.quoted(&agent.agent);
            let details = gap_lines(agent).chain(one_sided::line(agent));
            details.map(move |line| format!("{name}: {line}"))
        });
        let power = row::suite_power(&self.suite);
        let lines = lines.chain(self.rule_line()).chain(power.clone());
        blocks.extend(lines.map(|line| paragraph(&line)));
        blocks.push(paragraph(&format!(
            "{} {}",
            self.summary(),
            self.status_line()
        )));
        blocks.extend(other_changes);
        if !quiet.is_empty() {
            let kinds = self.unremarkable_counts();
            let kinds: Vec<String> = kinds
                .iter()
                .map(|(word, count)| format!("{count} {word}"))
                .collect();
            blocks.push(MarkdownBlock {
                head: format!(
                    "\n<details><summary>{} without a finding: {}</summary>\n\n{head}",
                    pluralize(quiet.len(), "agent"),
                    kinds.join(", ")
                ),
                rows: rows(&quiet),
                tail: "\n</details>\n".to_owned(),
            });
        }
        let facts = self.fact_lines(ShownAgents::All, &names).into_iter();
        let facts: Vec<String> = facts
            .filter(|fact| Some(fact) != power.as_ref())
            .map(|fact| match fact.strip_prefix("  ") {
                Some(inner) => format!("  - {}\n", escaped(inner)),
                None => format!("- {}\n", escaped_but_code(&fact)),
            })
            .collect();
        if !facts.is_empty() {
            blocks.push(MarkdownBlock {
                head:
                    "\n<details><summary>Not compared, and what the numbers are worth</summary>\n\n"
                        .to_owned(),
                rows: facts,
                tail: "\n</details>\n".to_owned(),
            });
        }
        blocks
    }
}

/// The row of an agent, with a sign for what it asks for.
fn marked(rank: Rank, cells: [String; 5]) -> String {
    let sign = match rank {
        Rank::Red => "❌ ",
        Rank::Reported => "🔎 ",
        Rank::Quiet => "",
    };
    let [agent, others @ ..] = cells;
    let agent = format!("{sign}`{}`", code(&agent));
    let others = others.map(|cell| escaped(&cell));
    let [passed, cost, behaviour, verdict] = others;
    line(&[agent, passed, cost, behaviour, verdict])
}

fn line(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// A name between backticks in a cell.
fn code(text: &str) -> String {
    text.replace('`', "ʼ").replace('|', "\\|")
}
