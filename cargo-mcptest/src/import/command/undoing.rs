//! An import taken back, with its suite.

use std::fs;
use std::io::Write;

use mcptest_suite::{escape, shown_path};

use super::{Import, Shown};
use crate::import::names::{self, Name};
use crate::import::starter::{Starter, Tools};
use crate::import::writing::{Done, Options, Writing, Wrong};
use crate::status::Status;

impl Import {
    /// Takes back what this import has written.
    pub(super) fn undo(
        &self,
        mut writing: Writing<'_>,
        names: &[Name],
        out: &mut dyn Write,
        err: &mut dyn Write,
    ) -> Result<Status, Wrong> {
        let removes = !self.check;
        writing.options.check = true;
        let mut undone = writing.undo(names)?;
        let proposed = self.first_suite(&writing)?;
        undone.with_suite(&self.suite, proposed.as_deref());
        write!(
            err,
            "{}",
            writing.redactor.redact_text(&writing.done.reports.drawn())
        )?;
        match self.format {
            Shown::Json => writeln!(
                out,
                "{}",
                mcptest_trace::trace::pretty_json(&undone.json(removes))
            )?,
            Shown::Text => write!(out, "{}", escape(&undone.text()))?,
        }
        if removes {
            writing.options.check = false;
            writing.undo(names)?;
            if let Some(suite) = &undone.suite {
                fs::remove_file(suite)?;
            }
        }
        Ok(match (undone.gone.is_empty(), undone.left.is_empty()) {
            (true, true) => {
                writeln!(
                    err,
                    "error: nothing of these files is recorded for {}",
                    shown_path(&self.suite)
                )?;
                Status::CouldNotRun
            }
            (false, true) => Status::Holds,
            (_, false) => Status::Finding,
        })
    }

    /// The suite that this import proposes where there is none.
    fn first_suite(&self, writing: &Writing<'_>) -> Result<Option<String>, Wrong> {
        let names = names::of(&writing.plan.groups, None, self.agent.is_some());
        let mut again = Writing {
            // Of no other runs than its own.
            options: Options {
                replace: true,
                check: true,
                ..writing.options
            },
            suite: None,
            place: writing.place.clone(),
            done: Done {
                starter: Starter::new(Tools::new(writing.plan, true)),
                ..Done::default()
            },
            ..*writing
        };
        again.all(&names)?;
        let shown = shown_path(&self.suite);
        Ok(again.done.starter.suite(&self.suite, &shown).ok())
    }
}
