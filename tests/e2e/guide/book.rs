//! The book of the guide: `docs/SUMMARY.md` has each page once, by its own title, in five parts.

use std::fs;

use super::pages;
use crate::support::workshop::workspace;

/// The parts of the book, in the order in which they are read.
const PARTS: [&str; 5] = ["Start", "Judge", "Play", "Merge", "Reference"];

fn summary() -> String {
    fs::read_to_string(workspace().join("docs/SUMMARY.md")).unwrap()
}

/// The title and the path of each page that a line names.
fn named(summary: &str) -> Vec<(&str, &str)> {
    let lines = summary.lines().filter_map(|line| {
        let link = line.strip_prefix("- ").unwrap_or(line);
        let (title, rest) = link.strip_prefix('[')?.split_once("](")?;
        Some((title, rest.strip_suffix(')')?))
    });
    lines.collect()
}

#[test]
fn the_book_has_each_page_once_by_its_title() {
    let summary = summary();
    let named = named(&summary);
    let mut found: Vec<(String, String)> = pages()
        .iter()
        .map(|page| {
            let title = page
                .text
                .lines()
                .next()
                .and_then(|line| line.strip_prefix("# "));
            let path = page.path.strip_prefix("docs/");
            let path = path.map_or_else(|| format!("../{}", page.path), str::to_owned);
            (title.unwrap().to_owned(), path)
        })
        .collect();
    let mut told: Vec<(String, String)> = named
        .iter()
        .map(|(title, path)| ((*title).to_owned(), (*path).to_owned()))
        .collect();
    assert_eq!(told[0].1, "../README.md", "the book begins with the README");
    found.sort();
    told.sort();
    assert_eq!(told, found);
}

#[test]
fn the_book_has_its_parts_in_order() {
    let summary = summary();
    let parts = summary.lines().filter_map(|line| line.strip_prefix("# "));
    assert_eq!(parts.skip(1).collect::<Vec<_>>(), PARTS);
    let (_, starts) = summary.split_once("# Start\n").unwrap();
    let starts = named(starts.split_once("\n# ").unwrap().0);
    let pages: Vec<&str> = starts.iter().map(|(_, path)| *path).collect();
    assert_eq!(
        pages,
        [
            "agent-in-python.md",
            "agent-in-typescript.md",
            "agent-in-rust.md"
        ]
    );
}
