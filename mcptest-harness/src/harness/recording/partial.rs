//! Recording of some runs of an agent alone, in the place of the runs that met a change.

use std::path::PathBuf;

use mcptest_trace::record::say;
use mcptest_trace::record::store::RunPlace;

use super::redaction_counts::RedactionCounts;
use super::session::RecordingSession;
use crate::harness::lookup::RunLookup;
use crate::render::Failure;

impl RecordingSession<'_> {
    /// Records these runs alone, by their places, and leaves the others as they are. `chosen`: others are kept although
    /// the agent changed. Whether all runs are new, which they are not.
    pub(super) fn replace_runs(&self, places: &[usize], chosen: bool) -> Result<bool, Failure> {
        let agent = self.subject.agent;
        self.store.prepare(agent.runs.value).map_err(self.stored)?;
        let there = run_places(&self.subject.lookup());
        let before = self.recorded_tools();
        let progress = self.prepare()?;
        let (mut taken, mut last) = (RedactionCounts::default(), None);
        for place in places {
            let mut run = self.record_run(place + 1, &progress)?;
            if chosen {
                run["chosen"] = true.into();
            }
            taken.add_run(&run);
            match there.get(*place) {
                Some(old) => self.store.replace_run(old, &run),
                None => self.store.add(&run).map(drop),
            }
            .map_err(self.stored)?;
            last = Some(run);
        }
        progress.done(places.len(), &self.display_path());
        self.print_summary(&taken, last.as_ref());
        if let Some(run) = &last {
            self.compare_tools(before.as_ref(), run);
        }
        if chosen {
            say(&format!(
                "note: the runs of `{}` are chosen: {} of {} were recorded anew because they met a change, and the others are kept. How many of \
                 them pass says little of the agent; `{}` records all of them",
                agent.name.value,
                places.len(),
                agent.runs.value,
                self.subject.place.command.all()
            ));
        }
        Ok(false)
    }
}

/// Where the runs lie, in their order.
fn run_places(wanted: &RunLookup<'_>) -> Vec<RunPlace> {
    let files = wanted.files().unwrap_or_default().into_iter();
    let of_file = |(file, _): (PathBuf, String)| -> Vec<RunPlace> {
        let place = |line| RunPlace::new(file.clone(), line);
        if file
            .extension()
            .is_none_or(|extension| extension != "jsonl")
        {
            return vec![place(None)];
        }
        let text = std::fs::read(&file).unwrap_or_default();
        let lines = text.split(|byte| *byte == b'\n').enumerate();
        let lines = lines.filter(|(_, line)| !line.trim_ascii().is_empty());
        lines.map(|(index, _)| place(Some(index + 1))).collect()
    };
    files.flat_map(of_file).collect()
}
