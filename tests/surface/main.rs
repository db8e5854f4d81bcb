//! What users of the published crates can name: kept in `tests/surface/*.txt`, so that a change of it is
//! seen. `INSTA_UPDATE=always cargo test --test surface` writes the lists.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod changelog;
mod circles;
mod contributing;
mod listing;
mod sources;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

fn compare(package: &str, library: &str) {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let modules = sources::read(library, &project.join(package).join("src/lib.rs"));
    let right = listing::list_public(&modules);
    let kept = project.join(format!("tests/surface/{package}.txt"));
    if fs::read_to_string(&kept).is_ok_and(|kept| kept == right) {
        return;
    }
    // `INSTA_UPDATE=always` writes it, as it writes snapshots.
    let update = std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always");
    let file = if update {
        kept
    } else {
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{package}.txt"))
    };
    fs::write(&file, right).unwrap();
    assert!(
        update,
        "the public items of {package} are others than tests/surface/{package}.txt says. If the change is meant, \
         `bash .ci/generate` writes the list. The items that there are: {}",
        file.display()
    );
}

#[test]
fn the_public_items_of_the_trace_are_those_that_are_listed() {
    compare("mcptest-trace", "mcptest_trace");
}

#[test]
fn the_public_items_of_the_suite_language_are_those_that_are_listed() {
    compare("mcptest-suite", "mcptest_suite");
}

#[test]
fn the_public_items_of_the_harness_are_those_that_are_listed() {
    compare("mcptest-harness", "mcptest");
}

#[test]
fn the_public_items_of_sessions_are_those_that_are_listed() {
    compare("mcptest-session", "mcptest_session");
}

#[test]
fn the_public_items_of_the_import_are_those_that_are_listed() {
    compare("mcptest-import", "mcptest_import");
}

#[test]
fn no_modules_import_each_other_in_a_circle() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let circles = [
        "mcptest-trace/src/lib.rs",
        "mcptest-suite/src/lib.rs",
        "mcptest-macros/src/lib.rs",
        "mcptest-harness/src/lib.rs",
        "mcptest-session/src/lib.rs",
        "mcptest-import/src/lib.rs",
        "cargo-mcptest/src/lib.rs",
    ];
    let circles =
        circles.map(|root| circles::find_circles(&sources::read("crate", &project.join(root))));
    let circles = circles.concat();
    assert!(circles.is_empty(), "{circles:#?}");
}

#[test]
fn a_circle_is_seen_through_a_name_that_is_handed_on_and_not_between_a_module_and_those_in_it() {
    let circles = |source: &str| {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("lib.rs");
        fs::write(&root, source).unwrap();
        circles::find_circles(&sources::read("a", &root))
    };
    let handed = r"
        mod face { pub(crate) mod inner { pub(crate) struct X; use crate::other::f; } pub(crate) use inner::X; }
        mod other { use crate::face::X; pub(crate) fn f() {} }
    ";
    assert_eq!(circles(handed), [["a::face::inner", "a::other"]]);
    let named =
        "mod one { fn f() { crate::two::g() } } mod two { pub(crate) fn g() { crate::one::f() } }";
    assert_eq!(circles(named), [["a::one", "a::two"]]);
    let within = "mod outer { pub struct T; mod inner { use super::T; pub(super) fn f() {} } use inner::f; }";
    assert!(circles(within).is_empty());
}

/// A crate of one file, as it is listed.
fn list_source(source: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("lib.rs");
    fs::write(&root, source).unwrap();
    let listing = listing::list_public(&sources::read("a", &root));
    listing.lines().map(str::to_owned).collect()
}

#[test]
fn what_can_be_named_is_listed_once_with_its_fields_variants_and_signatures() {
    let lines = list_source(
        r"
        mod inner {
            pub struct Seen { pub field: Vec<u8>, hidden: u8 }
            impl Seen { pub const fn new(from: &str) -> Self { todo!() } fn own(&self) {} }
            impl std::fmt::Display for Seen {}
            pub struct Unseen;
            pub(crate) struct Within;
            #[cfg(test)] mod tests { pub struct Test; }
        }
        pub use inner::Seen as Shown;
        pub mod deep { pub use super::inner::Seen; pub use std::mem; }
        #[derive(Clone)] #[non_exhaustive] pub enum Kind { One(u8), Two { x: Option<String> } }
        pub trait Reads: Send { fn read(&mut self) -> u8; fn given(&self) {} }
        pub fn make<T: Into<String>>(of: T) -> Result<Shown, String> { todo!() }
        pub const MOST: usize = 3;
        ",
    );
    let wanted = [
        "mod a",
        "enum a::Kind #[derive(Clone)] #[non_exhaustive]",
        "field a::Kind::One.0: u8",
        "field a::Kind::Two.x: Option<String>",
        "variant a::Kind::One",
        "variant a::Kind::Two",
        "const a::MOST: usize",
        "fn a::Reads::given(&self) { given }",
        "fn a::Reads::read(&mut self) -> u8",
        "trait a::Reads: Send",
        "field a::Shown.field: Vec<u8>",
        "fn a::Shown::new(from: &str) -> Self const",
        "impl a::Shown: std::fmt::Display",
        "struct a::Shown { private fields }",
        "mod a::deep",
        "use a::deep::Seen = a::Shown",
        "use a::deep::mem = std::mem",
        "fn a::make<T: Into<String>>(of: T) -> Result<Shown, String>",
    ];
    assert_eq!(lines, wanted);
}

#[test]
fn a_name_of_a_public_type_means_one_thing() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/surface");
    let lists = ["trace", "suite", "harness"]
        .map(|list| fs::read_to_string(folder.join(format!("mcptest-{list}.txt"))).unwrap());
    let mut types: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for line in lists.iter().flat_map(|list| list.lines()) {
        let Some((kind, rest)) = line.split_once(' ') else {
            continue;
        };
        if matches!(kind, "struct" | "enum" | "trait" | "type") {
            let ends = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | ':'));
            let path = rest.split(ends).next().unwrap_or_default();
            let name = path.rsplit("::").next().unwrap_or_default();
            types.entry(name).or_default().insert(path);
        }
    }
    assert!(types.len() > 100, "{}", types.len());
    types.retain(|_, paths| paths.len() > 1);
    assert!(types.is_empty(), "{types:#?}");
}
