//! A comparison as Markdown, for a pull request.

use super::names::Names;
use super::row;
use super::short::ShortRow;
use super::{ShownAgents, details};
use crate::evidence::compare::rank::Rank;
use crate::evidence::compare::{AgentComparison, Comparison};
use crate::text::{escape_markdown as escaped, escape_markdown_but_code as escaped_but_code};

/// The head of a table.
const HEAD: &str = "|---|---|---|---|---|\n";

impl Comparison {
    /// The headline, the agents of which something was found as a table, what fails first; the others, and
    /// what there is to say besides, folded below it. Names and texts of recordings are escaped.
    #[must_use]
    pub fn markdown(&self) -> String {
        let names = Names::of(self);
        let mut text = format!("**{}**\n", escaped_but_code(&self.headline()));
        let (quiet, told): (Vec<_>, Vec<_>) = self
            .ranked()
            .into_iter()
            .partition(|agent| agent.rank(&self.options) == Rank::Quiet);
        let rows = |agents: &[&AgentComparison]| -> String {
            let rows = agents.iter();
            rows.map(|agent| {
                let cells = ShortRow::of(agent, self, &names).cells();
                marked(agent.rank(&self.options), cells)
            })
            .collect()
        };
        let head = || line(&ShortRow::head(self).cells()) + HEAD;
        if !self.agents.is_empty() {
            text.push_str(&format!(
                "\n{}{}{}",
                head(),
                rows(&told),
                line(&ShortRow::of_all(self).cells().map(|cell| escaped(&cell)))
            ));
        }
        let lines = told.iter().flat_map(|agent| details(agent, &names));
        for line in lines
            .chain(self.rule())
            .chain(row::suite_power(&self.suite))
        {
            text.push_str(&format!("\n{}\n", escaped_but_code(&line)));
        }
        if !quiet.is_empty() {
            let kinds = self.quiet_counts();
            let kinds: Vec<String> = kinds
                .iter()
                .map(|(word, count)| format!("{count} {word}"))
                .collect();
            text.push_str(&format!(
                "\n<details><summary>{} without a finding: {}</summary>\n\n{}{}\n</details>\n",
                quiet.len(),
                kinds.join(", "),
                head(),
                rows(&quiet)
            ));
        }
        let mut facts = self.facts(ShownAgents::All);
        facts.retain(|fact| Some(fact) != row::suite_power(&self.suite).as_ref());
        if !facts.is_empty() {
            let facts: String = facts
                .iter()
                .map(|fact| match fact.strip_prefix("  ") {
                    Some(inner) => format!("  - {}\n", escaped(inner)),
                    None => format!("- {}\n", escaped(fact)),
                })
                .collect();
            text.push_str(&format!(
                "\n<details><summary>Not compared, and what the numbers are worth</summary>\n\n{facts}\n</details>\n"
            ));
        }
        text.push_str(&format!(
            "\n{} {}\n",
            escaped_but_code(&self.summary()),
            self.status()
        ));
        text
    }
}

/// The row of an agent, with a sign for what it asks for.
fn marked(rank: Rank, cells: [String; 5]) -> String {
    let sign = match rank {
        Rank::Red => "❌ ",
        Rank::Told => "🔎 ",
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
