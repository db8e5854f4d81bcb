//! The folders of a run, which texts may name: another checkout has others. A recording has each by its digest, so that it names no
//! path that the model did not see.

use std::path::{Path, PathBuf};

use serde_json::Value;
#[cfg(any(feature = "record", test))]
use serde_json::{Map, json};
use sha2::{Digest as _, Sha256};

#[cfg(feature = "play")]
use crate::json::{count, list};
use crate::protocol::blob;

/// A folder of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Folder {
    /// The one in which the agent's command runs.
    Command,
    /// The one of this process.
    Current,
}

impl Folder {
    #[cfg(feature = "play")]
    const ALL: [Self; 2] = [Self::Command, Self::Current];

    fn key(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Current => "current",
        }
    }
}

/// The ways in which a folder is written: as it is named, and without links.
pub(crate) fn spellings(folder: &Path) -> Vec<String> {
    let current = std::env::current_dir().unwrap_or_default();
    let named: PathBuf = current.join(folder).components().collect();
    let real = named.canonicalize().unwrap_or_else(|_| named.clone());
    let forms = [named, real].map(|form| form.display().to_string());
    // The root stands in every path.
    let whole = forms.into_iter().filter(|form| form.len() > 3);
    whole.collect()
}

/// What a recording has of the folders that its texts name. Of the current one it has how the command's folder goes on from
/// there, so that the tests may be started in another folder.
#[cfg(any(feature = "record", test))]
pub(crate) fn write_folders(folders: &[(Folder, Vec<String>)], cassette: &Value) -> Option<Value> {
    let mut written = Map::new();
    let command = folders.iter().find(|(one, _)| *one == Folder::Command);
    for (folder, forms) in folders {
        let is_there = |form: &String| {
            let mut found = false;
            each_text(cassette, &mut |text| {
                found |= find_folder(text, form).next().is_some();
            });
            found
        };
        if forms.iter().any(is_there) {
            let each = forms.iter().enumerate().map(|(number, form)| {
                let mut one = json!({ "bytes": form.len(), "digest": digest(form) });
                let command = command.filter(|_| *folder == Folder::Current);
                if let Some(way) =
                    command.and_then(|(_, all)| names_between(form, all.get(number)?))
                {
                    one["command"] = way.into();
                }
                one
            });
            written.insert(folder.key().to_owned(), each.collect());
        }
    }
    (!written.is_empty()).then_some(Value::Object(written))
}

/// The names that lead from a folder to one in it.
fn names_between(from: &str, to: &str) -> Option<Vec<String>> {
    let way = Path::new(to).strip_prefix(from).ok()?;
    let names = way
        .components()
        .map(|it| it.as_os_str().display().to_string());
    Some(names.collect())
}

/// A folder of a recorded run that its texts name.
#[cfg(feature = "play")]
#[derive(Debug, Clone)]
struct RecordedFolder {
    folder: Folder,
    /// Which of its forms it is.
    form: usize,
    path: String,
    /// How the command's folder goes on from there, where it does.
    way: Option<Vec<String>>,
}

#[cfg(feature = "play")]
fn read_recorded(cassette: &Value) -> Vec<RecordedFolder> {
    let mut found: Vec<RecordedFolder> = Vec::new();
    for folder in Folder::ALL {
        let forms = list(&cassette["session"]["folders"], folder.key());
        for (number, form) in forms.iter().enumerate() {
            let length = count(form, "bytes").and_then(|it| usize::try_from(it).ok());
            let (Some(length), Some(known)) = (length, form["digest"].as_str()) else {
                continue;
            };
            let mut path = None;
            each_text(cassette, &mut |text| {
                if path.is_none() {
                    path = find_named(text, length, known);
                }
            });
            let Some(path) = path else { continue };
            let names = list(form, "command").iter();
            let names: Option<Vec<String>> =
                names.map(|it| it.as_str().map(str::to_owned)).collect();
            // An older recording does not say it, and may name both.
            let command = found
                .iter()
                .find(|it| it.folder == Folder::Command && it.form == number);
            let way = match form.get("command") {
                Some(_) => names,
                None => command.and_then(|command| names_between(&path, &command.path)),
            };
            found.push(RecordedFolder {
                folder,
                form: number,
                path,
                way: way.filter(|_| folder == Folder::Current),
            });
        }
    }
    found
}

/// The path of a length and a digest in a text.
#[cfg(feature = "play")]
fn find_named(text: &str, length: usize, known: &str) -> Option<String> {
    let begins = text
        .char_indices()
        .filter(|(at, _)| may_begin_path(&text[..*at]));
    let mut paths = begins.filter_map(|(at, first)| {
        let path = text.get(at..at + length)?;
        // A path begins with a slash, or with a drive.
        let is_path = first == '/'
            || first == '\\'
            || path.get(1..).is_some_and(|rest| rest.starts_with(':'));
        is_path.then_some(path)
    });
    paths.find(|path| digest(path) == known).map(str::to_owned)
}

/// The folders of this run, each with the recorded one that it stands for.
#[cfg(feature = "play")]
#[derive(Debug, Clone, Default)]
pub(crate) struct FolderMap {
    recorded: Vec<RecordedFolder>,
    own: Vec<(Folder, Vec<String>)>,
    same: Vec<(String, String)>,
}

#[cfg(feature = "play")]
impl FolderMap {
    pub(crate) fn from_cassette(cassette: &Value) -> Self {
        Self {
            recorded: read_recorded(cassette),
            ..Self::default()
        }
    }

    /// A folder of this run.
    pub(crate) fn add(&mut self, folder: Folder, forms: &[String]) {
        self.own.push((folder, forms.to_vec()));
        let same = self
            .recorded
            .iter()
            .filter_map(|known| self.counterpart(known));
        // One that has its recorded name is kept too: a folder that it is in stands for another one.
        let mut same: Vec<(String, String)> = same.collect();
        // A folder goes before those that it is in.
        same.sort_by_key(|(own, _)| std::cmp::Reverse(own.len()));
        self.same = same;
    }

    /// The folder of this run that stands for a recorded one, with that.
    fn counterpart(&self, known: &RecordedFolder) -> Option<(String, String)> {
        let own = |folder| {
            let mut all = self.own.iter().rev().filter(|(one, _)| *one == folder);
            all.next()?.1.get(known.form).cloned()
        };
        match (&known.way, own(Folder::Command)) {
            // Where the tests are started does not matter: what the command's folder is in, is found from there.
            (Some(way), Some(command)) => Some(shared_roots(&known.path, way, &command)),
            _ => Some((own(known.folder)?, known.path.clone())),
        }
    }

    /// Puts the recorded folders in the place of those of this run.
    pub(crate) fn replace_in(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.replace_in_text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.replace_in(item)),
            Value::Object(map) => map.values_mut().for_each(|item| self.replace_in(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// A text with the recorded folders in the place of those of this run.
    pub(crate) fn replace_in_text(&self, text: &str) -> String {
        let mut named = String::new();
        let mut rest = text;
        loop {
            let next = self.same.iter().filter_map(|(own, recorded)| {
                let at = find_folder(text, own).find(|at| *at >= text.len() - rest.len())?;
                Some((at, std::cmp::Reverse(own.len()), recorded))
            });
            let Some((at, length, recorded)) = next.min() else {
                named += rest;
                return named;
            };
            named += &text[text.len() - rest.len()..at];
            named += recorded;
            rest = &text[at + length.0..];
        }
    }
}

/// A folder of this run and the recorded one that it stands for: both are the last one above the command's folder up to which
/// the names are the same, and the recorded one is not above the folder in which the tests were started.
#[cfg(feature = "play")]
fn shared_roots(current: &str, way: &[String], command: &str) -> (String, String) {
    let mut own = Path::new(command);
    let mut names = way;
    while let Some((last, before)) = names.split_last()
        && own
            .file_name()
            .is_some_and(|name| name.display().to_string() == *last)
        && let Some(parent) = own.parent()
    {
        (own, names) = (parent, before);
    }
    let recorded = names
        .iter()
        .fold(PathBuf::from(current), |path, name| path.join(name));
    (own.display().to_string(), recorded.display().to_string())
}

/// Where a folder stands whole in a text.
fn find_folder<'t>(text: &'t str, folder: &'t str) -> impl Iterator<Item = usize> + 't {
    let found = text.match_indices(folder).map(|(at, _)| at);
    found.filter(move |at| {
        let after = text[at + folder.len()..].chars().next();
        may_begin_path(&text[..*at]) && after.is_none_or(|it| !is_name_char(it))
    })
}

/// Whether a path may begin after a text.
fn may_begin_path(before: &str) -> bool {
    before
        .chars()
        .next_back()
        .is_none_or(|it| !is_name_char(it))
}

fn is_name_char(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || character == '-'
}

#[cfg(feature = "play")]
impl FolderMap {
    /// The map the other way round: it puts the folders of this run in the place of the recorded ones.
    pub(crate) fn reversed(&self) -> Self {
        let same = self.same.iter().cloned();
        let mut same: Vec<(String, String)> = same.map(|(own, recorded)| (recorded, own)).collect();
        same.sort_by_key(|(recorded, _)| std::cmp::Reverse(recorded.len()));
        Self {
            same,
            ..Self::default()
        }
    }
}

fn each_text(value: &Value, take: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => take(text),
        Value::Array(items) => items.iter().for_each(|item| each_text(item, take)),
        Value::Object(map) => map.values().for_each(|item| each_text(item, take)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn digest(text: &str) -> String {
    blob::hex(&Sha256::digest(text))
}

#[cfg(all(test, feature = "play"))]
mod tests {
    use super::*;

    fn forms(path: &str) -> Vec<String> {
        vec![path.to_owned(), format!("/real{path}")]
    }

    #[test]
    fn the_folders_of_another_checkout_are_named_as_recorded() {
        let text = "no file /home/Ann Lee/shop/suites/a.txt in /home/Ann Lee/shop, see file:///home/Ann Lee/shop/b";
        let mut cassette = json!({ "trace": { "tool_results": [{ "result": text }] } });
        let folders = [
            (Folder::Command, forms("/home/Ann Lee/shop/suites")),
            (Folder::Current, forms("/home/Ann Lee/shop")),
        ];
        let written = write_folders(&folders, &cassette).unwrap();
        assert!(!written.to_string().contains("Ann"), "{written}");
        cassette["session"] = json!({ "folders": written });
        let mut same = FolderMap::from_cassette(&cassette);
        same.add(Folder::Command, &forms("/srv/b/suites"));
        same.add(Folder::Current, &forms("/srv/b"));
        let mut now = json!([
            "no file /srv/b/suites/a.txt in /srv/b, see file:///srv/b/b",
            "/srv/bc /srv/b-c x/srv/b /srv/b.",
        ]);
        same.replace_in(&mut now);
        assert_eq!(now[0], text);
        assert_eq!(now[1], "/srv/bc /srv/b-c x/srv/b /home/Ann Lee/shop.");
    }

    /// A recording whose command runs in a folder below the one in which it was started.
    fn started(command: &str, current: &str, text: &str) -> Value {
        let mut cassette = json!({ "trace": { "final_response": text } });
        let one = |path: &str| vec![path.to_owned()];
        let folders = [
            (Folder::Command, one(command)),
            (Folder::Current, one(current)),
        ];
        cassette["session"] = json!({ "folders": write_folders(&folders, &cassette) });
        cassette
    }

    #[test]
    fn the_tests_may_be_started_in_another_folder() {
        for (recorded, text, played, now) in [
            // In a folder above, of the same checkout.
            (
                ("/work/shop/suites", "/work/shop"),
                "in /work/shop/a.py, not in /work/b",
                ("/work/shop/suites", "/work"),
                "in /work/shop/a.py, not in /work/b",
            ),
            // In one beside it, of another checkout.
            (
                ("/work/shop/suites", "/work/shop"),
                "in /work/shop/a.py",
                ("/srv/b/suites", "/srv"),
                "in /srv/b/a.py",
            ),
            // The recorded one was started above the checkout.
            (
                ("/work/shop/suites", "/work"),
                "in /work/shop/a.py and /work/shop/suites/x",
                ("/srv/b/suites", "/srv/b"),
                "in /srv/b/a.py and /srv/b/suites/x",
            ),
            // In the folder of the command.
            (
                ("/work/shop", "/work/shop"),
                "in /work/shop/a.py",
                ("/work/shop", "/work"),
                "in /work/shop/a.py",
            ),
        ] {
            let mut same = FolderMap::from_cassette(&started(recorded.0, recorded.1, text));
            same.add(Folder::Current, &[played.1.to_owned()]);
            same.add(Folder::Command, &[played.0.to_owned()]);
            assert_eq!(same.replace_in_text(now), text, "{played:?}");
        }
    }

    #[test]
    fn an_older_recording_that_names_both_folders_says_the_same() {
        let text = "in /work/shop/suites and /work/shop/a.py";
        let mut cassette = started("/work/shop/suites", "/work/shop", text);
        let current = &mut cassette["session"]["folders"]["current"][0];
        assert_eq!(current["command"], json!(["suites"]));
        current.as_object_mut().unwrap().remove("command");
        let mut same = FolderMap::from_cassette(&cassette);
        same.add(Folder::Current, &["/work".to_owned()]);
        same.add(Folder::Command, &["/work/shop/suites".to_owned()]);
        assert_eq!(same.replace_in_text(text), text);
    }

    #[test]
    fn folders_that_no_text_names_are_not_written() {
        let cassette = json!({ "trace": { "final_response": "See /home/shopping." } });
        assert_eq!(
            write_folders(&[(Folder::Current, forms("/home/shop"))], &cassette),
            None
        );
    }
}
