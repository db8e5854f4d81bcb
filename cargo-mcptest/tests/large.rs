//! A gigabyte of runs, and the memory that it takes to import it.
//!
//! `cargo test --release -p cargo-mcptest --test large -- --ignored --nocapture`

#![cfg(target_os = "linux")]

use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How much is imported, in bytes.
const SIZE: usize = 1 << 30;

/// The most memory that may be resident, in KiB.
const MOST: u64 = 200 << 10;

/// Writes runs of about ten thousand bytes, as lines or as the elements of a list.
fn generate(path: &Path, as_list: bool) -> std::io::Result<usize> {
    let mut file = BufWriter::new(std::fs::File::create(path)?);
    let filler = "the quick brown fox jumps over the lazy dog ".repeat(50);
    let (mut written, mut runs) = (0, 0);
    if as_list {
        file.write_all(b"[\n")?;
    }
    while written < SIZE {
        let comma = if as_list && runs > 0 { ",\n" } else { "" };
        let end = if as_list { "" } else { "\n" };
        let mut messages = vec![format!(r#"{{"role":"user","content":"run {runs}"}}"#)];
        for call in 0..4 {
            messages.push(format!(
                r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"c{call}","function":{{"name":"find","arguments":"{{\"n\":{call}}}"}}}}]}}"#
            ));
            messages.push(format!(
                r#"{{"role":"tool","tool_call_id":"c{call}","content":"{filler}"}}"#
            ));
        }
        messages.push(format!(r#"{{"role":"assistant","content":"done {runs}"}}"#));
        let record = format!(
            r#"{comma}{{"id":"r{runs}","model":"m","task":"t{}","messages":[{}]}}{end}"#,
            runs % 7,
            messages.join(",")
        );
        file.write_all(record.as_bytes())?;
        written += record.len();
        runs += 1;
    }
    if as_list {
        file.write_all(b"]\n")?;
    }
    file.flush()?;
    Ok(runs)
}

/// The most memory that a process had resident so far, in KiB.
fn peak(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

#[test]
#[ignore = "writes three gigabytes and takes minutes"]
fn a_gigabyte_takes_less_than_200_megabytes() {
    for (name, as_list, arguments) in [
        ("runs.jsonl", false, &["--group-by", "task"][..]),
        // Every run is an agent of its own.
        ("runs.jsonl", false, &["--check"]),
        ("runs.json", true, &["--group-by", "task", "--jsonl"]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let runs = generate(&folder.path().join(name), as_list).unwrap();
        let began = Instant::now();
        let mut child = Command::new(env!("CARGO_BIN_EXE_cargo-mcptest"))
            .current_dir(folder.path())
            .args(["import", name, "--suite", "suites/x.yml"])
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(folder.path().join("said")).unwrap())
            .spawn()
            .unwrap();
        let mut most = 0;
        while child.try_wait().unwrap().is_none() {
            most = most.max(peak(child.id()).unwrap_or_default());
            std::thread::sleep(Duration::from_millis(20));
        }
        let status = child.wait().unwrap();
        println!(
            "{name} {arguments:?}: {runs} runs, {most} KiB, {:?}, {status}",
            began.elapsed()
        );
        assert!(most > 0 && most < MOST, "{most} KiB");
        // The suite of as many agents is too large to be written, which is reported.
        let said = std::fs::read_to_string(folder.path().join("said")).unwrap();
        assert!(matches!(status.code(), Some(0 | 1)), "{said}");
    }
}
