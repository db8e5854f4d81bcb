//! What became of all mutants, for the HTML report.

use mcptest_trace::evidence::mutants::MutantOptions;
use serde_json::{Value, json};

use super::found::MutantsFound;
use super::judging::Bench;
use crate::failure::Failure;
use crate::judging::{Filter, OpenPackage};

/// How many survivors of an operator are shown as diffs.
const DIFFS: usize = 3;

/// Breaks the runs of a package as `cargo mcptest mutants --only-green` does.
pub(crate) fn page(opened: &OpenPackage) -> Result<Value, Failure> {
    let bench = Bench::new(opened, &Filter::default())?;
    let found = MutantsFound::new(&bench, bench.judge(&MutantOptions::default()))?;
    let mut page = found.json(opened);
    page["mutants"] = Value::Null;
    page["matrix"] = json!(found.matrix());
    page["survivors"] = json!(found.survivors(&bench, DIFFS));
    Ok(page)
}
