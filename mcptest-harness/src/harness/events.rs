//! `--format json`: libtest's events, one object a line.
//!
//! Written here and not by libtest-mimic, which puts `Error: "` before a failure's text and leaves
//! out why a case is ignored.

use std::io::{self, Write};
use std::time::Instant;

use serde_json::json;

use super::verdicts::{NotFailed, Verdicts};

/// Writes what becomes of the cases, in their order; whether one failed.
pub(super) fn write(
    out: &mut dyn Write,
    verdicts: &Verdicts,
    names: &[String],
    filtered_out: usize,
) -> io::Result<bool> {
    let started = Instant::now();
    let (mut passed, mut failed, mut ignored) = (0_usize, 0_usize, 0_usize);
    let count = names.len();
    writeln!(
        out,
        r#"{{ "type": "suite", "event": "started", "test_count": {count} }}"#
    )?;
    for name in names {
        let shown = json!(name);
        writeln!(
            out,
            r#"{{ "type": "test", "event": "started", "name": {shown} }}"#
        )?;
        let (event, more) = match verdicts.verdict(name) {
            Ok(NotFailed::Holds(_)) => {
                passed += 1;
                ("ok", String::new())
            }
            Ok(NotFailed::Ignored(reason)) => {
                ignored += 1;
                ("ignored", format!(r#", "message": {}"#, json!(reason)))
            }
            Err(text) => {
                failed += 1;
                ("failed", format!(r#", "stdout": {}"#, json!(text + "\n")))
            }
        };
        writeln!(
            out,
            r#"{{ "type": "test", "name": {shown}, "event": "{event}"{more} }}"#
        )?;
    }
    let event = if failed > 0 { "failed" } else { "ok" };
    let seconds = started.elapsed().as_secs_f64();
    writeln!(
        out,
        r#"{{ "type": "suite", "event": "{event}", "passed": {passed}, "failed": {failed}, "ignored": {ignored}, "measured": 0, "filtered_out": {filtered_out}, "exec_time": {seconds} }}"#
    )?;
    out.flush()?;
    Ok(failed > 0)
}
