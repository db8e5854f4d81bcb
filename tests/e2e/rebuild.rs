//! The macro makes cargo build again when the suite changes, and only then.

use std::fs;

use crate::support::clerk::{SUITE, counted};
use crate::support::folder::Folder;
use crate::support::process::Finished;
use crate::support::workshop::{manifest, run_cargo, share_packages};

const LIBRARY: &str = "\
//! A library.

#[cfg(test)]
#[mcptest::suite(\"desk.yml\")]
mod desk {}
";

fn test(folder: &Folder) -> Finished {
    run_cargo(folder.path(), &["test", "--lib"])
}

#[test]
fn a_changed_suite_is_compiled_again_and_a_changed_recording_is_not() {
    let run = "suites/cassettes/Clerk__m.json";
    let folder = Folder::new()
        .with_file("Cargo.toml", manifest("rebuilt_by_the_macro", ""))
        .with_file("src/lib.rs", LIBRARY)
        .with_file("suites/desk.yml", SUITE)
        .with_run(run, &counted(3));
    share_packages(folder.path());
    let compiled = |ran: &Finished| ran.stderr.contains("Compiling rebuilt_by_the_macro");

    let first = test(&folder).exits(0);
    assert!(compiled(&first), "{first}");
    assert_eq!(
        first.outcomes().into_keys().collect::<Vec<_>>(),
        ["desk::clerk"]
    );

    // A recording is read when the test runs.
    folder.write(run, counted(4).to_string().replace("pens", "crayons"));
    let second = test(&folder).exits(101);
    assert!(!compiled(&second), "{second}");

    folder.write(run, counted(4).to_string());
    folder.write(
        "suites/desk.yml",
        format!("{SUITE}    trajectory: {{ mode: strict, calls: [{{ name: count }}] }}\n"),
    );
    let third = test(&folder).exits(0);
    assert!(compiled(&third), "{third}");
    assert_eq!(
        third.outcomes().into_keys().collect::<Vec<_>>(),
        ["desk::clerk", "desk::clerk::trajectory"]
    );

    // A suite that was changed behind an executable's back is noticed.
    let executable = &third.executables()[0];
    folder.write("suites/desk.yml", SUITE.replace("Clerk", "Porter"));
    let mut command = crate::support::process::command(executable, folder.path());
    let old = crate::support::process::run(&mut command).exits(101);
    assert!(
        old.failures()["desk::clerk"].contains("has no case"),
        "{old}"
    );

    for ran in [&first, &third] {
        for executable in ran.executables() {
            _ = fs::remove_file(executable);
        }
    }
}
