//! The table of an import: a row an agent with a model, at most as wide as a terminal.

use std::collections::HashSet;

use mcptest_trace::text::{COLUMNS, escape_line, pluralize, truncate_middle, width, wrap};

use super::SummaryRow;
use crate::output::describe_passed;
use crate::table::table_with_words;

/// How many rows are shown.
const SHOWN: usize = 40;

/// How much room a long name has at least.
const NARROWEST: usize = 12;

/// What stands between two columns.
const GAP: usize = 2;

/// What stands where the records say nothing.
const UNRECORDED: &str = "-";

const HEADINGS: [&str; 9] = [
    "agent",
    "model",
    "new",
    "present",
    "calls",
    "failed",
    "unknown",
    "tokens/run",
    "passed",
];

/// The columns of words, which are cut where they are too long.
const WORDS: usize = 2;

/// The rows under their headings, with their sum. What is the same in all rows stands below them.
pub(in crate::import) fn table(rows: &[SummaryRow]) -> String {
    let [row] = rows else {
        return render(rows);
    };
    draw_columns(
        vec![HEADINGS.map(str::to_owned).to_vec(), row_cells(row)],
        WORDS,
    )
}

fn render(rows: &[SummaryRow]) -> String {
    let mut all: Vec<Vec<String>> = rows.iter().map(row_cells).collect();
    let prefix = shared_prefix(rows).to_owned();
    for row in &mut all {
        row[0].drain(..prefix.len());
    }
    let is_same = |column: &usize| all.iter().all(|row| row[*column] == all[0][*column]);
    let (same, kept): (Vec<usize>, Vec<usize>) = (1..HEADINGS.len()).partition(is_same);
    let kept: Vec<usize> = std::iter::once(0).chain(kept).collect();
    let take = |row: &[String]| -> Vec<String> {
        kept.iter().map(|column| row[*column].clone()).collect()
    };
    let mut shown = vec![take(&HEADINGS.map(str::to_owned))];
    shown.extend(all.iter().take(SHOWN).map(|row| take(row)));
    let more = rows.len().saturating_sub(SHOWN);
    if kept.len() > 1 {
        shown.push(take(&total_cells(rows)));
    }
    let words = kept.iter().filter(|column| **column < WORDS).count();
    let mut text = headline(rows) + &draw_columns(shown, words);
    if more > 0 {
        text += &format!(
            "{} not shown: `--format json` lists all\n",
            pluralize(more, "more row")
        );
    }
    let same = same.into_iter().map(|column| match &*all[0][column] {
        UNRECORDED => format!("{} not recorded", HEADINGS[column]),
        cell => format!("{} {}", HEADINGS[column], escape_line(cell)),
    });
    let begin =
        (!prefix.is_empty()).then(|| format!("agent begins with `{}`", escape_line(&prefix)));
    let same: Vec<String> = begin.into_iter().chain(same).collect();
    if !same.is_empty() {
        let same = format!("the same in all rows: {}", same.join(", "));
        text += &(wrap(&same, 2) + "\n");
    }
    text
}

/// What all names begin with, up to what tells agents of one name apart.
fn shared_prefix(rows: &[SummaryRow]) -> &str {
    let first = rows.first().map_or("", |row| &*row.agent);
    let prefix = first.find(": ").map_or("", |end| &first[..end + 2]);
    let is_shared = rows.iter().all(|row| row.agent.starts_with(prefix));
    if is_shared { prefix } else { "" }
}

/// How much was imported.
fn headline(rows: &[SummaryRow]) -> String {
    let agents: HashSet<&str> = rows.iter().map(|row| &*row.agent).collect();
    let (new, present_runs) = count_runs(rows);
    let was = if present_runs == 1 { "was" } else { "were" };
    let present = match present_runs {
        0 => String::new(),
        _ => format!(
            ", {} {was} recorded already",
            pluralize(present_runs, "run")
        ),
    };
    let agents = pluralize(agents.len(), "agent");
    let judged: usize = rows.iter().map(|row| row.judged).sum();
    let unknown = match (new + present_runs).saturating_sub(judged) {
        unknown @ 1.. if judged > 0 => {
            let do_not = if unknown == 1 { "does not" } else { "do not" };
            format!(
                "; {} {do_not} say whether they passed",
                pluralize(unknown, "run")
            )
        }
        _ => String::new(),
    };
    format!(
        "{} of {agents}{present}{unknown}\n",
        pluralize(new, "new run")
    )
}

fn count_runs(rows: &[SummaryRow]) -> (usize, usize) {
    let sum = |of: fn(&SummaryRow) -> usize| rows.iter().map(of).sum();
    (sum(|row| row.new), sum(|row| row.present))
}

fn total_cells(rows: &[SummaryRow]) -> Vec<String> {
    let mut all = SummaryRow::default();
    for row in rows {
        all.new += row.new;
        all.present += row.present;
        all.calls += row.calls;
        all.errors += row.errors;
        all.unknown += row.unknown;
        all.doubtful += row.doubtful;
        all.tokens = all.tokens.saturating_add(row.tokens);
        all.with_tokens += row.with_tokens;
        all.passed += row.passed;
        all.judged += row.judged;
    }
    let mut cells = row_cells(&all);
    cells[0] = format!("all {}", rows.len());
    if all.judged > 0 {
        // The headline says how many runs do not say it.
        let passed = HEADINGS.len() - 1;
        cells[passed] = describe_passed(all.passed, all.judged - all.passed, 0);
    }
    cells
}

fn row_cells(row: &SummaryRow) -> Vec<String> {
    let unknown = row.new + row.present - row.judged;
    let passed = match row.judged {
        0 => UNRECORDED.to_owned(),
        judged => describe_passed(row.passed, judged - row.passed, unknown),
    };
    let tokens = row.tokens.checked_div(row.with_tokens as u64);
    vec![
        row.agent.to_string(),
        row.model.to_string(),
        row.new.to_string(),
        row.present.to_string(),
        row.calls.to_string(),
        row.errors.to_string(),
        (row.unknown + row.doubtful).to_string(),
        tokens.map_or_else(|| UNRECORDED.to_owned(), format_count),
        passed,
    ]
}

/// A number of at most four digits, with `k` for thousands, `M` for millions.
fn format_count(count: u64) -> String {
    // One decimal of a number this large is exact enough.
    #[expect(clippy::cast_precision_loss, reason = "it is rounded for people")]
    let count_of = |unit: u64| count as f64 / unit as f64;
    match count {
        0..10_000 => count.to_string(),
        10_000..999_950 => format!("{:.1}k", count_of(1_000)),
        _ => format!("{:.1}M", count_of(1_000_000)),
    }
}

/// Draws rows within the width of a terminal: the columns of words give way.
fn draw_columns(mut rows: Vec<Vec<String>>, words: usize) -> String {
    for cell in rows.iter_mut().flatten() {
        *cell = escape_line(cell).into_owned();
    }
    let columns = rows.first().map_or(0, Vec::len);
    let widest = |column: usize| {
        let cells = rows.iter().map(|row| width(&row[column]));
        cells.max().unwrap_or_default()
    };
    let others: usize = (words..columns).map(widest).sum();
    let room = COLUMNS.saturating_sub(others + GAP * columns.saturating_sub(1));
    let most = if words == 1 {
        vec![room]
    } else {
        let model = room.saturating_sub(widest(0)).max(room / 3);
        let model = model.min(widest(1)).max(NARROWEST);
        vec![room.saturating_sub(model).max(NARROWEST), model]
    };
    for row in &mut rows {
        for (cell, most) in row.iter_mut().zip(&most) {
            *cell = truncate_middle(cell, *most);
        }
    }
    table_with_words(&rows, words)
}

#[cfg(test)]
mod tests {
    use mcptest_trace::text::width;

    use super::*;

    fn row(agent: &str, model: &str, calls: usize) -> SummaryRow {
        SummaryRow {
            new: 4,
            calls,
            fine: calls,
            ..SummaryRow::new(&agent.into(), &model.into(), String::new())
        }
    }

    #[test]
    fn one_row_has_all_columns() {
        let row = SummaryRow {
            unknown: 4,
            tokens: 43_621,
            with_tokens: 1,
            passed: 2,
            judged: 4,
            ..row("orders", "gpt-5", 4)
        };
        assert_eq!(
            table(&[row]),
            "agent   model  new  present  calls  failed  unknown  tokens/run  passed\n\
             orders  gpt-5    4        0      4       0        4       43.6k  2 of 4\n"
        );
    }

    #[test]
    fn what_all_rows_have_is_said_once() {
        let rows = [row("a", "gpt-5", 4), row("b", "gpt-5", 12)];
        assert_eq!(
            table(&rows),
            "8 new runs of 2 agents\n\
             agent  calls\n\
             a          4\n\
             b         12\n\
             all 2     16\n\
             the same in all rows: model gpt-5, new 4, present 0, failed 0, unknown 0, tokens/run not recorded,\n  \
             passed not recorded\n"
        );
        assert!(table(&[row("a", "m", 4), row("b", "m", 4)]).starts_with(
            "8 new runs of 2 agents\nagent\na\nb\nthe same in all rows: model m, new 4, "
        ));
    }

    /// The sum is of all runs, and the mean of those that have tokens.
    #[test]
    fn the_last_row_is_of_all_runs() {
        let with = |model: &str, present, tokens, with_tokens, passed| SummaryRow {
            present,
            tokens,
            with_tokens,
            passed,
            judged: 1,
            ..row("a", model, 3)
        };
        assert_eq!(
            table(&[with("m", 0, 30_000, 2, 1), with("n", 1, 0, 0, 0)]),
            "8 new runs of 1 agent, 1 run was recorded already; 7 runs do not say whether they passed\n\
             agent  model  present  tokens/run             passed\n\
             a      m            0       15.0k  1 of 1, 3 unknown\n\
             a      n            1           -  0 of 1, 4 unknown\n\
             all 2               1       15.0k             1 of 2\n\
             the same in all rows: new 4, calls 3, failed 0, unknown 0\n"
        );
    }

    #[test]
    fn no_line_is_wider_than_a_terminal() {
        let name =
            |number: usize| format!("runs: {}{number}", "Please 🛒 refund order. ".repeat(9));
        let rows = (0..60).map(|number| SummaryRow {
            present: number,
            errors: number * 1_000,
            unknown: number * 1_000,
            tokens: number as u64 * 99_999,
            with_tokens: 1,
            judged: 1 + number % 3,
            ..row(
                &name(number),
                &"ft:gpt-4.1:".repeat(number),
                number * 10_000,
            )
        });
        let rows: Vec<SummaryRow> = rows.collect();
        let text = table(&rows);
        assert!(text.lines().all(|line| width(line) <= COLUMNS), "{text}");
        assert!(
            text.lines()
                .any(|line| line.contains("…") && line.contains("der. 7  ")),
            "{text}"
        );
        assert_eq!(text.lines().count(), 1 + 1 + SHOWN + 1 + 1 + 1, "{text}");
        assert!(
            text.contains("\n20 more rows not shown: `--format json` lists all\n"),
            "{text}"
        );
    }

    #[test]
    fn what_all_names_begin_with_is_said_once() {
        let rows = [row("log: p", "m", 4), row("log: q", "m", 5)];
        let text = table(&rows);
        assert!(
            text.starts_with(
                "8 new runs of 2 agents\nagent  calls\np          4\nq          5\nall 2      9\n"
            ),
            "{text}"
        );
        assert!(
            text.contains("\nthe same in all rows: agent begins with `log: `, model m, new 4, "),
            "{text}"
        );
    }

    #[test]
    fn large_numbers_are_rounded() {
        let all = [9_999, 10_000, 43_649, 999_949, 999_950, 12_340_000];
        let all = all.map(format_count);
        assert_eq!(all, ["9999", "10.0k", "43.6k", "999.9k", "1.0M", "12.3M"]);
    }
}
