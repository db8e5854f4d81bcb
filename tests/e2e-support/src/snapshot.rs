//! Comparing what a person would read with what was read when it was last reviewed.

use std::path::Path;

use crate::workshop::workspace;

/// Compares a text with the snapshot of this name. Paths of this machine are taken out first.
#[track_caller]
pub fn assert(name: &str, text: &str, folder: &Path) {
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path(workspace().join("tests/e2e/snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, redact(text, folder)));
}

/// The text without the paths of this machine.
pub fn redact(text: &str, folder: &Path) -> String {
    let mut text = text.to_owned();
    let real = folder.canonicalize();
    for path in [Some(folder.to_owned()), real.ok()].into_iter().flatten() {
        text = text.replace(&path.to_string_lossy().replace('\\', "/"), "[crate]");
    }
    text
}
