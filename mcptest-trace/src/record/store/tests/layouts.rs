//! Stems and the run files of the old recording.

use std::ffi::OsString;
use std::path::PathBuf;

use super::super::{layout_stem, publish::surplus};
use super::*;

#[test]
fn the_layouts_of_an_agent_share_a_stem() {
    for (layout, stem) in [
        (Layout::Single(PathBuf::from("p/gpt-4.1.json")), "gpt-4.1"),
        (Layout::Folder(PathBuf::from("p/gpt-4.1")), "gpt-4.1"),
        (Layout::Lines(PathBuf::from("p/gpt-4.1.jsonl")), "gpt-4.1"),
        (Layout::Single(PathBuf::from("odd.txt")), "odd.txt"),
        (Layout::Folder(PathBuf::from("x.json/")), "x.json"),
    ] {
        assert_eq!(layout_stem(&layout).unwrap(), stem);
    }
    let error = Store::new(&Layout::Folder(PathBuf::from(".."))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`..` does not end in a name; name a file or a folder in `cassette:`"
    );
}

#[test]
fn a_name_in_capitals_is_surplus_only_where_it_is_another_file() {
    let listed: Vec<OsString> = [
        "RUN-1.json",
        "run-2.json",
        "run-02.json",
        "run-3.json",
        "a.json",
    ]
    .map(OsString::from)
    .to_vec();
    // Windows, macOS: `run-1.json` is there, under that name.
    let same = surplus(&listed, 2, |_| true);
    assert_eq!(same, ["run-02.json", "run-3.json", "a.json"]);
    let other = surplus(&listed, 2, |name| listed.contains(&OsString::from(name)));
    assert_eq!(other, ["RUN-1.json", "run-02.json", "run-3.json", "a.json"]);
    let both = [listed, vec![OsString::from("run-1.json")]].concat();
    let both = surplus(&both, 2, |_| true);
    assert_eq!(both, ["RUN-1.json", "run-02.json", "run-3.json", "a.json"]);
}
