//! Links of the guide lead somewhere.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::{Page, blocks, pages};
use crate::support::workshop::workspace;

/// A page without its blocks of code.
fn prose(text: &str) -> String {
    let mut inside = false;
    let lines = text.lines().filter(|line| {
        let fence = line.starts_with("```");
        inside ^= fence;
        !inside && !fence
    });
    lines.map(|line| format!("{line}\n")).collect()
}

/// Text without what stands in backticks.
fn without_code(text: &str) -> String {
    text.split('`').step_by(2).collect()
}

/// Where the links of a page lead.
fn links(text: &str) -> Vec<String> {
    let text = without_code(&prose(text));
    let inline = text.split("](").skip(1);
    let inline = inline.filter_map(|rest| rest.split_once(')'));
    let defined = text.lines().filter_map(|line| {
        let (name, target) = line.strip_prefix('[')?.split_once("]: ")?;
        (!name.contains('[')).then_some(target)
    });
    let all = inline.map(|(target, _)| target).chain(defined);
    all.map(ToOwned::to_owned).collect()
}

/// The anchors of a page's headings, as GitHub writes them.
fn anchors(text: &str) -> Vec<String> {
    let mut times = BTreeMap::new();
    let text = prose(text);
    let headings = text.lines().filter_map(|line| {
        let title = line.trim_start_matches('#');
        (title.len() < line.len()).then(|| title.strip_prefix(' '))?
    });
    let anchor = |heading: &str| {
        let kept = heading.to_lowercase();
        let kept = kept
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let anchor = kept.collect::<String>().replace(' ', "-");
        let before: &mut usize = times.entry(anchor.clone()).or_default();
        *before += 1;
        match *before {
            1 => anchor,
            time => format!("{anchor}-{}", time - 1),
        }
    };
    headings.map(anchor).collect()
}

/// What is wrong with a link of a page.
fn problem(page: &Page, target: &str) -> Option<String> {
    if target.starts_with("https://") {
        return None;
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let here = workspace().join(&page.path);
    let file = match path {
        "" => here,
        path => here.parent().unwrap_or(Path::new("")).join(path),
    };
    if !file.exists() {
        return Some(format!("{}: `{target}` leads to no file", page.path));
    }
    if anchor.is_empty() {
        return None;
    }
    let text = fs::read_to_string(&file).unwrap_or_default();
    let there = anchors(&text).iter().any(|known| known == anchor);
    (!there).then(|| format!("{}: `{target}` leads to no heading", page.path))
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let mut pages = pages();
    for path in ["CONTRIBUTING.md", "CHANGELOG.md", "docs/SUMMARY.md"] {
        pages.push(Page {
            path: path.to_owned(),
            text: fs::read_to_string(workspace().join(path)).unwrap(),
        });
    }
    let mut followed = 0;
    let mut problems = Vec::new();
    for page in &pages {
        let links = links(&page.text);
        followed += links.len();
        problems.extend(links.iter().filter_map(|link| problem(page, link)));
    }
    assert!(problems.is_empty(), "{problems:#?}");
    assert!(followed > 20, "{followed}");
}

/// Whoever reads the README finds every page.
#[test]
fn the_readme_links_to_every_page() {
    let pages = pages();
    let linked = links(&pages[0].text);
    for page in &pages[1..] {
        assert!(linked.contains(&page.path), "{}", page.path);
    }
}

/// On crates.io nothing but the package is there.
#[test]
fn the_readmes_of_the_packages_lead_to_files_of_the_package_and_show_what_is_executed() {
    let executed: Vec<String> = blocks().into_iter().map(|block| block.text).collect();
    for package in [
        "mcptest-harness",
        "mcptest-trace",
        "mcptest-suite",
        "mcptest-macros",
        "cargo-mcptest",
    ] {
        let page = Page {
            path: format!("{package}/README.md"),
            text: fs::read_to_string(workspace().join(package).join("README.md")).unwrap(),
        };
        for link in links(&page.text) {
            assert!(!link.contains(".."), "{package}: {link}");
            assert_eq!(problem(&page, &link), None);
        }
        // The dependency is a path in this repository, and the command has tests of its own.
        let blocks = page
            .blocks()
            .into_iter()
            .filter(|block| block.language != "toml");
        for block in blocks.filter(|_| package == "mcptest-harness") {
            assert!(executed.contains(&block.text), "{}", block.location());
        }
    }
}

#[test]
fn links_and_anchors_are_found() {
    let text = "# One `two`: three\n\n[a](b.md#c) and `[no](link)`\n\n```text\n# no heading\n[x](y)\n```\n\n## Ünder_score (4)\n## Ünder_score (4)\n[d]: e.md\n";
    assert_eq!(links(text), ["b.md#c", "e.md"]);
    assert_eq!(
        anchors(text),
        ["one-two-three", "ünder_score-4", "ünder_score-4-1"]
    );
}
