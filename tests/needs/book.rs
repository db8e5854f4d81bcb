//! The book of docs/, as `.ci/book` builds it: it has every page, it can be searched, and its links lead somewhere.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use crate::support::folder::{Folder, collect};
use crate::support::process;
use crate::support::workshop::workspace;

/// Where links lead that leave the book.
const SOURCE: &str = "https://example.invalid/blob/main";

/// The values of an attribute in a page.
fn values<'p>(page: &'p str, attribute: &str) -> Vec<&'p str> {
    let begin = format!(" {attribute}=\"");
    let rest = page.split(&begin).skip(1);
    rest.filter_map(|rest| Some(rest.split_once('"')?.0))
        .collect()
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => _ = plain.pop(),
            part => plain.push(part),
        }
    }
    plain
}

/// What is wrong with a link of a page, if anything is.
fn problem(
    pages: &BTreeMap<PathBuf, String>,
    book: &Path,
    page: &Path,
    link: &str,
) -> Option<String> {
    let told = |what: &str| Some(format!("{}: `{link}` {what}", page.display()));
    if let Some(file) = link.strip_prefix(SOURCE) {
        let file = file.trim_start_matches('/').split('#').next().unwrap_or("");
        let there = workspace().join(file).exists();
        return if there {
            None
        } else {
            told("is no file of the repository")
        };
    }
    if link.contains(':') {
        return if link.starts_with("https://") {
            None
        } else {
            told("leaves the book")
        };
    }
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = match path {
        "" => page.to_owned(),
        path => plain(&page.parent().unwrap_or(Path::new("")).join(path)),
    };
    if !book.join(&target).exists() {
        return told("leads to no file");
    }
    let anchored = |text: &String| anchor.is_empty() || values(text, "id").contains(&anchor);
    match pages.get(&target) {
        Some(text) if !anchored(text) => told("leads to no heading"),
        _ => None,
    }
}

fn has_extension(file: &str, wanted: &str) -> bool {
    let extension = Path::new(file).extension();
    extension.is_some_and(|extension| extension == wanted)
}

pub(crate) fn its_links_lead_somewhere_and_it_can_be_searched() {
    let folder = Folder::new();
    let book = folder.at("book");
    let mut command = Command::new("bash");
    command
        .arg(workspace().join(".ci/book"))
        .arg(&book)
        .env("BOOK_SOURCE", SOURCE)
        .current_dir(folder.path());
    let built = process::run(&mut command).exits(0);
    assert!(!built.stderr.to_lowercase().contains("warn"), "{built}");

    let files = collect(&book);
    let pages = files.iter().filter(|(file, _)| has_extension(file, "html"));
    let pages: BTreeMap<PathBuf, String> = pages
        .map(|(file, text)| {
            (
                PathBuf::from(file),
                String::from_utf8_lossy(text).into_owned(),
            )
        })
        .collect();
    for page in fs::read_dir(workspace().join("docs")).unwrap() {
        let page = PathBuf::from(page.unwrap().file_name());
        if page.extension().is_some_and(|end| end == "md") && page != Path::new("SUMMARY.md") {
            assert!(
                pages.contains_key(&page.with_extension("html")),
                "{}",
                page.display()
            );
        }
    }
    assert!(pages.contains_key(Path::new("introduction.html")));
    let is_index = |file: &str| file.starts_with("searchindex") && has_extension(file, "js");
    let mut indexes = files.iter().filter(|(file, _)| is_index(file));
    let (_, index) = indexes.next().expect("the book has an index to search");
    assert!(String::from_utf8_lossy(index).contains("claimed_but_absent"));

    let mut followed = 0;
    let mut problems = Vec::new();
    for (page, text) in &pages {
        for link in [values(text, "href"), values(text, "src")].concat() {
            followed += 1;
            problems.extend(problem(&pages, &book, page, link));
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
    assert!(followed > 500, "{followed}");
}
