//! Imports of small files, in folders of their own.

mod again;
mod answers;
mod anthropic;
mod atif;
mod bad_input;
mod by_name;
mod chains;
mod claude_code;
mod codex;
mod console;
mod dialect;
mod dropped;
mod emitters;
mod grown;
mod had;
mod handed;
mod inspect;
mod langsmith;
mod mangled;
mod many;
mod mcptest;
mod messages;
mod openai;
mod otel;
mod otherwise;
mod overlooked;
mod printed;
mod promptfoo;
mod proposed;
mod real;
mod repeated;
mod rig;
mod says_so;
mod screen;
mod scripts;
mod second;
mod strangers;
mod talk;
mod tau;
mod tools;
mod undo;
mod verdict;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use clap::Parser as _;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::Import;

#[derive(Debug, clap::Parser)]
struct Line {
    #[command(flatten)]
    import: Import,
}

/// A folder to import in.
struct Desk {
    folder: TempDir,
}

/// What an import said.
#[derive(Debug)]
struct ImportOutput {
    status: u8,
    out: String,
    err: String,
}

impl Desk {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    /// Imports files of the folder into `suites/x.yml` there.
    fn import(&self, arguments: &[&str]) -> ImportOutput {
        self.import_into("suites/x.yml", arguments)
    }

    fn import_into(&self, suite: &str, arguments: &[&str]) -> ImportOutput {
        let suite = self.path().join(suite);
        let mut line = vec![
            "import".to_owned(),
            "--suite".to_owned(),
            suite.display().to_string(),
        ];
        for argument in arguments {
            let file = self.path().join(argument);
            let is_file = !argument.starts_with("--") && (file.exists() || argument.contains('*'));
            line.push(if is_file {
                file.display().to_string()
            } else {
                (*argument).to_owned()
            });
        }
        let import = Line::try_parse_from(line).unwrap().import;
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let status = import.run(&mut out, &mut err).unwrap_or_else(|failure| {
            writeln!(err, "{failure}").unwrap();
            failure.status
        }) as u8;
        let shown = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).unwrap();
            text.replace(&format!("{}/", self.path().display()), "")
        };
        ImportOutput {
            status,
            out: shown(out),
            err: shown(err),
        }
    }

    /// The files below `suites`, and what is in them.
    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        e2e_support::folder::collect(&self.path().join("suites"))
    }

    /// The paths of the recordings below their folder.
    fn recorded(&self) -> Vec<String> {
        let recordings = self.recordings().into_iter();
        recordings.map(|(name, _)| name).collect()
    }

    /// The recordings, by their paths below the recordings' folder.
    fn recordings(&self) -> Vec<(String, Value)> {
        let root = self.path().join("suites/cassettes");
        let files = walkdir::WalkDir::new(&root)
            .sort_by_file_name()
            .into_iter()
            .flatten();
        let files = files.filter(|entry| entry.file_type().is_file());
        let mut recordings = Vec::new();
        for entry in files {
            let name = entry
                .path()
                .strip_prefix(&root)
                .unwrap()
                .display()
                .to_string();
            let text = std::fs::read_to_string(entry.path()).unwrap();
            if entry.path().extension().is_some_and(|it| it == "jsonl") {
                let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
                recordings.extend(lines.map(|run| (name.clone(), run)));
            } else {
                recordings.push((name, serde_json::from_str(&text).unwrap()));
            }
        }
        recordings
    }

    /// The only recording.
    fn recording(&self) -> Value {
        let mut recordings = self.recordings();
        assert_eq!(recordings.len(), 1, "{recordings:#?}");
        recordings.remove(0).1
    }

    fn suite(&self) -> String {
        self.read("suites/x.yml")
    }

    fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.path().join(file)).unwrap_or_default()
    }
}

/// Lines of JSON.
/// A record with one message of a user and its answer.
fn record(id: &str, prompt: &str, answer: &str) -> Value {
    json!({ "id": id, "model": "m", "messages": [
        { "role": "user", "content": prompt }, { "role": "assistant", "content": answer },
    ] })
}

fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}
