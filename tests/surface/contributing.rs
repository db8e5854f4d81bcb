//! What CONTRIBUTING.md names is there: files, folders, and what the sources call so. A rename that forgets the page is
//! told here.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Names that stand for any, and what is there only after a command has made it.
const NOT_THERE: [&str; 4] = ["x.rs", "x/tests.rs", "x/tests", "fuzz/artifacts"];

/// What other libraries have.
const OTHERS: [&str; 1] = ["jsonschema::meta"];

/// Folders that a build makes.
const MADE: [&str; 3] = ["target", "node_modules", ".git"];

/// The files and folders below a folder, as paths from there.
fn paths(root: &Path, folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if MADE.contains(&&*name) {
            continue;
        }
        let below = path.strip_prefix(root).unwrap().components();
        let steps: Vec<_> = below
            .map(|step| step.as_os_str().to_string_lossy())
            .collect();
        found.insert(steps.join("/"));
        if path.is_dir() {
            paths(root, &path, found);
        }
    }
}

/// The texts of a page that stand between back quotes, each with the number of its line.
fn code_spans(page: &str) -> Vec<(usize, &str)> {
    let mut is_fenced = false;
    let mut spans = Vec::new();
    for (line, text) in (1..).zip(page.lines()) {
        if text.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        } else if !is_fenced {
            let inside = text.split('`').skip(1).step_by(2);
            spans.extend(inside.map(|span| (line, span)));
        }
    }
    spans
}

/// The path that a text names from some folder of the repository; nothing for another text.
fn named_path(span: &str) -> Option<&str> {
    let is_path = |letter: char| letter.is_ascii_alphanumeric() || "_-./".contains(letter);
    let path = span.trim_start_matches("…/").trim_end_matches('/');
    let has_ending = path.rsplit_once('.').is_some_and(|(start, ending)| {
        !start.is_empty() && ["rs", "md", "yml", "txt", "toml", "lock"].contains(&ending)
    });
    let is_one = (span.contains('/') || has_ending) && !path.starts_with("../");
    (is_one && path.chars().all(is_path)).then_some(path)
}

/// What the sources must have so that a text names something of them: what a call, a macro or a path ends with.
fn named_item(span: &str) -> Option<String> {
    let is_word = |text: &str| {
        let mut letters = text.chars();
        letters
            .next()
            .is_some_and(|first| first.is_alphabetic() || first == '_')
            && letters.all(|letter| letter.is_alphanumeric() || letter == '_')
    };
    if let Some(name) = span.strip_suffix('!').filter(|name| is_word(name)) {
        return Some(format!("macro_rules! {name} "));
    }
    let (path, call) = span
        .split_once('(')
        .map_or((span, false), |(path, _)| (path, true));
    if let (Some(name), true) = (path.strip_prefix('.').filter(|name| is_word(name)), call) {
        // It stands in a declaration, and gives the declaration back.
        return Some(format!("const fn {name}("));
    }
    let name = path.rsplit("::").next().filter(|name| is_word(name))?;
    // A path that begins with a small letter leads to a function or a module.
    let is_module = path.contains("::") && path.starts_with(char::is_lowercase) && !call;
    let kind = if is_module { "" } else { "fn " };
    (call || path.contains("::")).then(|| format!("{kind}{name}"))
}

/// What a page names and is not there, a line each.
fn not_there(page: &str, paths: &BTreeSet<String>, sources: &str) -> Vec<String> {
    let is_there = |path: &str| {
        let end = format!("/{path}");
        NOT_THERE.contains(&path)
            || paths
                .iter()
                .any(|known| known == path || known.ends_with(&end))
    };
    let spans = code_spans(page).into_iter();
    let problems = spans.filter_map(|(line, span)| {
        if let Some(path) = named_path(span) {
            return (!is_there(path))
                .then(|| format!("line {line}: no file or folder is `{span}`"));
        }
        let item = named_item(span).filter(|_| !OTHERS.contains(&span))?;
        (!sources.contains(&item))
            .then(|| format!("line {line}: no source has `{item}` for `{span}`"))
    });
    problems.collect()
}

#[test]
fn what_the_page_for_contributors_names_is_there() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = BTreeSet::new();
    paths(project, project, &mut all);
    let sources = all
        .iter()
        .filter(|path| Path::new(path).extension().is_some_and(|end| end == "rs"));
    let sources: String = sources
        .map(|path| fs::read_to_string(project.join(path)).unwrap())
        .collect();
    let page = fs::read_to_string(project.join("CONTRIBUTING.md")).unwrap();
    let named = code_spans(&page).into_iter();
    assert!(named.filter(|(_, span)| named_path(span).is_some()).count() > 100);
    let problems = not_there(&page, &all, &sources);
    assert!(
        problems.is_empty(),
        "CONTRIBUTING.md names what is not there. Write what it is called now:\n{}",
        problems.join("\n")
    );
}

#[test]
fn a_path_a_call_and_a_macro_that_are_not_there_are_told() {
    let page = "`src/a.rs`, `a.rs`, `b.rs`, `…/old/`, `.kept()`, `.limits(TARGET)`, `Key::tools`, `Key::texts`\n\
                ```sh\n`c.rs`\n```\n`table!`, `rows!`, `said()`, `cargo test`, `max_ms`, `a/../b c`\n";
    let paths = ["src", "src/a.rs"].map(str::to_owned).into();
    let sources = "const fn kept(mut self) {} fn limits(&self) {} fn tools() {} macro_rules! table { () => {} }";
    let told: Vec<String> = not_there(page, &paths, sources);
    let told: Vec<&str> = told
        .iter()
        .filter_map(|line| line.rsplit('`').nth(1))
        .collect();
    assert_eq!(
        told,
        [
            "b.rs",
            "…/old/",
            ".limits(TARGET)",
            "Key::texts",
            "rows!",
            "said()"
        ]
    );
}
