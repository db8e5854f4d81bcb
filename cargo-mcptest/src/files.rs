//! What lies below a folder.

use std::path::{Path, PathBuf};

use mcptest::judge::AgentTest;
use walkdir::{DirEntry, WalkDir};

/// The files below a folder that end so, in the order of their names; what is hidden or has one of some names
/// is passed over.
pub(crate) fn files(folder: &Path, ends: &[&str], passed_over: &[&str]) -> Vec<PathBuf> {
    let wanted = |entry: &DirEntry| {
        let name = entry.file_name().to_string_lossy();
        entry.depth() == 0 || !(name.starts_with('.') || passed_over.contains(&&*name))
    };
    let entries = WalkDir::new(folder).sort_by_file_name().into_iter();
    let entries = entries.filter_entry(wanted).flatten();
    let files = entries.filter(|entry| {
        let end = entry.path().extension().and_then(|end| end.to_str());
        entry.file_type().is_file() && end.is_some_and(|end| ends.contains(&end))
    });
    files.map(DirEntry::into_path).collect()
}

/// The stem that a recording is of: its folder's name where it is one of several, else its own.
pub(crate) fn stem(place: &Path, path: &Path) -> Option<String> {
    let parent = path.parent().filter(|parent| *parent != place);
    let named = parent.unwrap_or(path);
    let name = if parent.is_some() {
        named.file_name()
    } else {
        named.file_stem()
    };
    Some(name?.to_string_lossy().into_owned())
}

/// The part of a `cassette:` that is no pattern.
pub(crate) fn before_pattern(cassette: &str) -> PathBuf {
    let plain = cassette
        .split('/')
        .take_while(|part| !part.contains(['*', '?', '[']));
    plain.collect()
}

/// The stems that recordings of an agent may have with its model.
pub(crate) fn stems_of(agent: &AgentTest<'_>) -> Vec<String> {
    let test = agent.agent();
    let mut models = test.models.iter();
    let model = models.find(|model| model.value.id == agent.model());
    let stems = model.map(|model| test.cassette_stems(&model.value));
    stems.unwrap_or_default()
}
