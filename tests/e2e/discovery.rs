//! Which files below `suites/` are suites, and what is said when there are none.

use std::fs;

use crate::sample::{assert_fails, assert_passes, runner};
use crate::support::clerk::{ONE, SUITE, counted, desk};
use crate::support::folder::Folder;

#[test]
fn no_folder_of_suites_says_where_it_was_looked_for() {
    assert_fails("discovery-no-folder", &Folder::new(), "suites::load");
}

#[test]
fn an_empty_folder_of_suites_is_a_failure() {
    let folder = Folder::new();
    fs::create_dir(folder.at("suites")).unwrap();
    assert_fails("discovery-empty-folder", &folder, "suites::load");
    assert_fails(
        "discovery-empty-folder",
        &folder.with_file("suites/notes.txt", "agents"),
        "suites::load",
    );
}

#[test]
fn a_filter_does_not_hide_that_there_is_no_suite() {
    let ran = runner(Folder::new().path(), &["stability"]).exits(101);
    assert_eq!(ran.only_failure().0, "suites::load");
}

#[test]
fn hidden_entries_recordings_and_snapshots_are_no_suites() {
    let broken = "agentss: []\n";
    let folder = desk(SUITE)
        .with_run(ONE, &counted(3))
        .with_file("suites/.hidden.yml", broken)
        .with_file("suites/.git/config.yml", broken)
        .with_file("suites/cassettes/notes.yml", broken)
        .with_file("suites/deep/snapshots/a.yaml", broken)
        .with_file("suites/README.md", broken)
        .with_file("suites/desk.yml.bak", broken);
    assert_eq!(assert_passes(&folder), ["desk::clerk"]);
}

#[test]
fn two_suites_of_one_name_are_an_error_that_names_both() {
    let folder = Folder::new()
        .with_file("suites/a.yml", SUITE)
        .with_file("suites/a.yaml", SUITE);
    let text = assert_fails("discovery-two-extensions", &folder, "a::load");
    assert!(
        text.contains("suites/a.yml") && text.contains("suites/a.yaml"),
        "{text}"
    );
    let folder = Folder::new()
        .with_file("suites/a b.yml", SUITE)
        .with_file("suites/A-B.yml", SUITE);
    assert_fails("discovery-two-spellings", &folder, "a_b::load");
}

#[test]
fn an_agent_with_the_name_of_another_suite_is_an_error_that_names_both() {
    let suite = SUITE.replace("Clerk", "checkout");
    let folder = Folder::new()
        .with_file("suites/shop.yml", &suite)
        .with_file("suites/shop/checkout.yml", SUITE)
        .with_run("suites/shop/cassettes/Clerk__m.json", &counted(3));
    let text = assert_fails("discovery-agent-and-suite", &folder, "shop::load");
    assert!(
        text.contains("suites/shop.yml") && text.contains("suites/shop/checkout.yml"),
        "{text}"
    );
}

#[test]
fn a_path_without_letters_is_an_error() {
    let folder = Folder::new().with_file("suites/🚀.yml", SUITE);
    let ran = runner(folder.path(), &[]).exits(101);
    assert_eq!(ran.only_failure().0, "suites::load");
}

#[cfg(unix)]
mod links {
    use std::os::unix::fs::symlink;

    use super::{Folder, ONE, SUITE, assert_fails, assert_passes, counted, desk};

    #[test]
    fn a_link_out_of_the_root_is_not_followed() {
        let outside = Folder::new()
            .with_file("other.yml", "agentss: []\n")
            .with_file("more/one.yml", "agentss: []\n");
        let folder = desk(SUITE).with_run(ONE, &counted(3));
        symlink(outside.at("other.yml"), folder.at("suites/other.yml")).unwrap();
        symlink(outside.at("more"), folder.at("suites/more")).unwrap();
        assert_eq!(assert_passes(&folder), ["desk::clerk"]);
    }

    #[test]
    fn a_link_within_the_root_is_a_suite_of_its_own_and_a_loop_ends() {
        let folder = desk(SUITE).with_run(ONE, &counted(3));
        symlink("desk.yml", folder.at("suites/again.yml")).unwrap();
        symlink(".", folder.at("suites/loop")).unwrap();
        let names = assert_passes(&folder);
        assert_eq!(names, ["again::clerk", "desk::clerk"]);
    }

    #[test]
    fn a_suite_that_is_a_dead_link_is_a_failure() {
        let folder = desk(SUITE).with_run(ONE, &counted(3));
        symlink("nowhere.yml", folder.at("suites/dead.yml")).unwrap();
        assert_fails("discovery-dead-link", &folder, "suites::load");
    }
}
