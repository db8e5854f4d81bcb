//! An import taken back, with its suite.

use std::fs;
use std::io::Write;

use mcptest_suite::{escape, portable_path};
use mcptest_trace::trace::pretty_json;

use super::Import;
use crate::failure::Failure;
use crate::import::names::{self, Name};
use crate::import::report::Reports;
use crate::import::run_cache::RunCache;
use crate::import::starter::CalledTools;
use crate::import::store::StoreOptions;
use crate::import::writing::{ImportOutcome, Writing};
use crate::output::OutputFormat;
use crate::status::ExitStatus;

impl Import {
    /// Takes back what this import has written.
    pub(super) fn take_back(
        &self,
        mut writing: Writing<'_>,
        names: &[Name],
        out: &mut dyn Write,
        err: &mut dyn Write,
    ) -> Result<ExitStatus, Failure> {
        writing.options.check = true;
        let mut undone = writing.undo(names)?;
        let proposed = self.first_suite(&mut writing)?;
        let (suite, neighbours) = (writing.suite, writing.neighbours);
        undone.remove_suite(&self.suite, names, proposed.as_deref(), suite, neighbours);
        let drawn = writing.done.reports.render();
        write!(err, "{}", writing.reading.redactor.redact_text(&drawn))?;
        match self.format {
            OutputFormat::Json => writeln!(out, "{}", pretty_json(&undone.json(!self.check)))?,
            OutputFormat::Text => write!(out, "{}", escape(&undone.text()))?,
        }
        if !self.check {
            writing.options.check = false;
            writing.undo(names)?;
            if let Some(suite) = &undone.suite {
                fs::remove_file(suite)?;
            }
        }
        Ok(match (undone.gone.is_empty(), undone.is_partial()) {
            (true, false) => {
                let suite = portable_path(&self.suite);
                writeln!(err, "error: no run of these files is recorded for {suite}")?;
                ExitStatus::CouldNotRun
            }
            (false, false) => ExitStatus::Holds,
            (_, true) => ExitStatus::Finding,
        })
    }

    /// The suite that this import proposes where there is none.
    fn first_suite(&self, writing: &mut Writing<'_>) -> Result<Option<String>, Failure> {
        let names = names::assign_names(
            &writing.plan.groups,
            &vec![None; writing.plan.groups.len()],
            None,
            self.mapping.agent.is_some(),
            writing.neighbours,
            &mut Reports::default(),
        );
        let mut again = Writing {
            // Of no other runs than its own.
            options: StoreOptions {
                replace: true,
                check: true,
                ..writing.options
            },
            suite: None,
            done: ImportOutcome {
                starter: writing
                    .done
                    .starter
                    .for_suite(CalledTools::new(writing.plan, None)),
                ..ImportOutcome::default()
            },
            reread: RunCache::default(),
            ..*writing
        };
        again.write_all(&names)?;
        let shown = portable_path(&self.suite);
        Ok(again.done.starter.suite(&self.suite, &shown).ok())
    }
}
