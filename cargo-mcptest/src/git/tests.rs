//! Recordings at a revision, in repositories made here.

use std::fs;
use std::path::{Path, PathBuf};

use e2e_support::folder::{Folder, collect};
use e2e_support::git::{commit_all, git};

use super::Revision;

/// A repository whose package has other recordings now than in its first commit.
fn repository() -> Folder {
    let folder = Folder::new()
        .with_file("shop/suites/cassettes/a__m/run-1.json", "one")
        .with_file("shop/suites/cassettes/notes.md", "not read")
        .with_file("shop/cassettes/deep/b__m.jsonl", "lines")
        .with_file("shop/src/data.json", "not read")
        .with_file("named/elsewhere/x.json", "named")
        .with_file("desk/cassettes/other.json", "of another package");
    commit_all(folder.path(), "one");
    folder.write("shop/suites/cassettes/a__m/run-1.json", "two");
    commit_all(folder.path(), "two");
    folder
}

fn refused(package: &Path, revision: &str) -> String {
    Revision::read(package, revision, &[], &[])
        .unwrap_err()
        .to_string()
}

#[test]
fn recordings_of_a_revision_lie_as_in_the_package() {
    let folder = repository();
    let shop = folder.at("shop");
    let before = collect(folder.path());
    let named = [
        PathBuf::from("../named/elsewhere"),
        PathBuf::from("../../outside"),
    ];
    let first = Revision::read(&shop, "HEAD~1", &named, &[]).unwrap();
    assert_eq!(first.commit, git(&shop, &["rev-parse", "HEAD~1"]));
    assert_eq!(first.files, 3);
    let found = collect(&first.package);
    let text = |path: &str| String::from_utf8(found[path].clone()).unwrap();
    assert_eq!(found.len(), 2);
    assert_eq!(text("suites/cassettes/a__m/run-1.json"), "one");
    assert_eq!(text("cassettes/deep/b__m.jsonl"), "lines");
    assert_eq!(
        fs::read_to_string(first.package.join("../named/elsewhere/x.json")).unwrap(),
        "named"
    );
    let now = Revision::read(&shop, "main", &[], &[]).unwrap();
    assert_eq!(
        fs::read_to_string(now.package.join("suites/cassettes/a__m/run-1.json")).unwrap(),
        "two"
    );
    // Git's own files too, but for what it writes about itself when it is asked.
    assert!(collect(folder.path()) == before);
    let gone = first.package.clone();
    drop(first);
    assert!(!gone.exists());
}

#[test]
fn a_package_at_the_top_of_its_repository_is_read_as_well() {
    let folder = repository();
    let all = Revision::read(folder.path(), "HEAD", &[], &[]).unwrap();
    assert_eq!(all.files, 3);
    assert!(all.package.join("desk/cassettes/other.json").is_file());
}

#[test]
fn a_revision_that_is_not_there_is_told() {
    let folder = repository();
    assert_eq!(
        refused(&folder.at("shop"), "mian"),
        "error: `mian` is neither a folder nor a revision that git knows\n\n\
         help: `git log --oneline` lists commits, `git branch --all` lists branches, `git tag` lists tags"
    );
    assert!(refused(&folder.at("shop"), "--help").contains("`--help` is neither"));
    let clone = Folder::new();
    let from = format!("file://{}", folder.path().display());
    git(clone.path(), &["clone", "-q", &from, "full"]);
    git(&clone.at("full"), &["switch", "-qc", "work"]);
    git(&clone.at("full"), &["branch", "-qD", "main"]);
    assert_eq!(
        refused(&clone.at("full/shop"), "main"),
        "error: `main` is neither a folder nor a revision that git knows\n\nhelp: did you mean `origin/main`?"
    );
    git(
        clone.path(),
        &["clone", "-q", "--depth", "1", &from, "shallow"],
    );
    assert_eq!(
        refused(&clone.at("shallow/shop"), "HEAD~1"),
        "error: the revision `HEAD~1` is not in this shallow clone\n\n\
         help: fetch the rest: `git fetch --unshallow`; in a GitHub workflow, `fetch-depth: 0` for actions/checkout"
    );
}

#[test]
fn a_partial_clone_fetches_nothing() {
    let folder = repository();
    git(folder.path(), &["config", "uploadpack.allowFilter", "true"]);
    let clone = Folder::new();
    let from = format!("file://{}", folder.path().display());
    git(
        clone.path(),
        &["clone", "-q", "--filter=blob:none", &from, "partial"],
    );
    let said = refused(&clone.at("partial/shop"), "HEAD~1");
    assert!(
        said.starts_with("error: not all of the recordings at `HEAD~1` are in this clone: "),
        "{said}"
    );
    assert!(said.ends_with("completes a partial clone"), "{said}");
    git(
        &clone.at("partial"),
        &["fetch", "-q", "--refetch", "--no-filter"],
    );
    let complete = Revision::read(&clone.at("partial/shop"), "HEAD~1", &[], &[]).unwrap();
    assert_eq!(complete.files, 2);
}

#[test]
fn a_pointer_and_a_link_are_no_recordings() {
    let folder = repository();
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n";
    folder.write("shop/cassettes/deep/b__m.jsonl", pointer);
    git(folder.path(), &["commit", "-qam", "pointer"]);
    assert_eq!(
        refused(&folder.at("shop"), "main"),
        "error: `shop/cassettes/deep/b__m.jsonl` at `main` is in Git LFS, and git has only a pointer to it\n\n\
         help: check the revision out into a folder: `git worktree add ../baseline main` and `git lfs pull` there; \
         then name this folder instead of the revision"
    );
    #[cfg(unix)]
    {
        folder.write("shop/cassettes/deep/b__m.jsonl", "lines");
        std::os::unix::fs::symlink("b__m.jsonl", folder.at("shop/cassettes/deep/c.jsonl")).unwrap();
        git(folder.path(), &["add", "-A"]);
        git(folder.path(), &["commit", "-qm", "link"]);
        let said = refused(&folder.at("shop"), "main");
        assert!(
            said.starts_with("error: `shop/cassettes/deep/c.jsonl` at `main` is a symbolic link"),
            "{said}"
        );
    }
}

#[test]
fn a_package_in_no_repository_is_told() {
    let folder = Folder::new();
    assert_eq!(
        refused(folder.path(), "main"),
        format!(
            "error: `{}` is in no git repository\n\nhelp: name a folder with the recordings instead of a revision",
            folder.path().display()
        )
    );
}
