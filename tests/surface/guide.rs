//! The guide of the crate's documentation: the README is its front page, and each page of `docs/` a module. They are
//! copies, as a package holds nothing from outside of its folder; `INSTA_UPDATE=always cargo test --test surface`
//! writes them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Where the pages stand in the package.
const FOLDER: &str = "mcptest-harness/guide";

/// The pages of `docs/` in the order in which the README names them.
fn pages(project: &Path) -> Vec<String> {
    let readme = fs::read_to_string(project.join("README.md")).unwrap();
    let mut named: Vec<String> = Vec::new();
    for link in readme.split("](docs/").skip(1) {
        let (link, _) = link.split_once(')').unwrap();
        let (page, _) = link.split_once('#').unwrap_or((link, ""));
        // A picture is no page.
        let Some(page) = page.strip_suffix(".md") else {
            continue;
        };
        if !named.iter().any(|known| known == page) {
            named.push(page.to_owned());
        }
    }
    for entry in fs::read_dir(project.join("docs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|kind| kind == "md") {
            let page = path.file_stem().unwrap().to_str().unwrap().to_owned();
            assert!(
                named.contains(&page),
                "the README does not lead to docs/{page}.md"
            );
        }
    }
    named
}

fn module(page: &str) -> String {
    page.replace('-', "_")
}

/// Where a link leads in the documentation: a page of the guide, or a place in it. A file of the repository is not
/// in a package; then there is nothing.
fn target(link: &str, pages: &[String]) -> Option<String> {
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let page = path.strip_prefix("docs/").unwrap_or(path);
    if page.is_empty() || link.starts_with("https://") {
        return Some(link.to_owned());
    }
    if page.ends_with("gate/targets.md") {
        return Some("crate::eval".to_owned());
    }
    let page = page.strip_suffix(".md")?;
    pages.iter().find(|known| *known == page)?;
    let module = module(page);
    Some(if anchor.is_empty() {
        format!("crate::guide::{module}")
    } else {
        format!("crate::guide::{module}#{anchor}")
    })
}

/// A page as a module has it.
fn converted(text: &str, pages: &[String]) -> String {
    let mut out = String::new();
    let mut in_block = false;
    for line in text.lines() {
        if line.starts_with("<!--") && line.ends_with("-->") {
            // It says which test runs what follows.
            continue;
        }
        let fence = line.trim_start().strip_prefix("```");
        match fence {
            // The tests of the guide run these blocks, each where it belongs.
            Some("rust" | "rust,ignore" | "rust,no_run") if !in_block => {
                let indent = line.len() - line.trim_start().len();
                _ = writeln!(out, "{}```rust,ignore", &line[..indent]);
            }
            _ if fence.is_some() || in_block => _ = writeln!(out, "{line}"),
            _ => _ = writeln!(out, "{}", with_links(line, pages)),
        }
        if fence.is_some() {
            in_block = !in_block;
        }
    }
    out
}

/// A line whose links lead somewhere in the documentation; where they cannot, their words are left.
fn with_links(line: &str, pages: &[String]) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find("](") {
        let begin = rest[..at].rfind('[').unwrap();
        if rest[..begin].ends_with('!') {
            // A picture is not in the package.
            out += &plain(&rest[..begin - 1]);
            rest = rest[at..].split_once(')').unwrap().1;
            continue;
        }
        let (address, after) = rest[at + 2..].split_once(')').unwrap();
        out += &plain(&rest[..begin]);
        let words = &rest[begin + 1..at];
        match target(address, pages) {
            Some(target) => _ = write!(out, "[{words}]({target})"),
            None => out += words,
        }
        rest = after;
    }
    out + &plain(rest)
}

/// Words without a link. What stands in brackets outside of code is no link to an item.
fn plain(words: &str) -> String {
    let mut in_code = false;
    let mut out = String::new();
    for letter in words.chars() {
        in_code ^= letter == '`';
        if letter == '[' && !in_code && !out.ends_with('\\') {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

/// All files of the guide.
fn files(project: &Path) -> BTreeMap<PathBuf, String> {
    let pages = pages(project);
    let mut files = BTreeMap::new();
    let mut modules = String::from(
        "//! The guide, a page a module: written out of the repository's `docs/` by `.ci/generate`.\n",
    );
    for page in &pages {
        let text = fs::read_to_string(project.join(format!("docs/{page}.md"))).unwrap();
        let text = converted(&text, &pages);
        files.insert(project.join(format!("{FOLDER}/{page}.md")), text);
        let module = module(page);
        _ = write!(
            modules,
            "\n#[doc = include_str!(\"../guide/{page}.md\")]\npub mod {module} {{}}\n"
        );
    }
    files.insert(project.join("mcptest-harness/src/guide.rs"), modules);
    let readme = fs::read_to_string(project.join("README.md")).unwrap();
    // The name of the crate is the heading already.
    let (_, readme) = readme.split_once('\n').unwrap();
    let front = converted(readme.trim_start(), &pages);
    files.insert(project.join(format!("{FOLDER}/front.md")), front);
    files
}

#[test]
fn the_guide_of_the_crate_is_the_pages_of_the_repository() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let update = std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always");
    let files = files(project);
    if update {
        fs::create_dir_all(project.join(FOLDER)).unwrap();
    }
    for (file, right) in &files {
        if fs::read_to_string(file).is_ok_and(|kept| kept == *right) {
            continue;
        }
        assert!(
            update,
            "{} is another page than that of `docs/` or the README; `.ci/generate` writes it",
            file.display()
        );
        fs::write(file, right).unwrap();
    }
    for entry in fs::read_dir(project.join(FOLDER)).unwrap() {
        let path = entry.unwrap().path();
        if files.contains_key(&path) {
            continue;
        }
        assert!(update, "{} is a page that is gone", path.display());
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn links_lead_to_pages_and_what_is_not_in_the_package_is_words() {
    let pages = ["live-guard".to_owned(), "gates".to_owned()];
    for (line, converted) in [
        (
            "See [a guard](live-guard.md) and [flow](gates.md#flow).",
            "See [a guard](crate::guide::live_guard) and [flow](crate::guide::gates#flow).",
        ),
        ("[Gates](docs/gates.md)", "[Gates](crate::guide::gates)"),
        (
            "[above](#flow), [page](https://x.y/z)",
            "[above](#flow), [page](https://x.y/z)",
        ),
        (
            "the [schema](../mcptest-suite/schemas/s.json) says",
            "the schema says",
        ),
        ("calls[0] and `calls[0]`", "calls\\[0] and `calls[0]`"),
        ("![a picture](docs/report.png) of it", " of it"),
        ("nothing", "nothing"),
    ] {
        assert_eq!(with_links(line, &pages), converted);
    }
}
