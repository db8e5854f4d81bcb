//! The packages that bring the command, made of the program that is built for the other tests: a wheel whose metadata
//! maturin writes, and npm packages that `packages/npm/build.mjs` makes. They are installed into an empty environment,
//! and used where no cargo is on the `PATH`. The registries are not asked for them: pip gets their folder, npm their
//! files.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::sessions::{
    Installation, PACKAGE, REQUIREMENTS, installed_once, library_for_typescript, program,
    the_page_on_python, the_page_on_typescript, the_readme,
};
use crate::support::folder::Folder;
use crate::support::process::{self, Finished};
use crate::support::workshop::{kept_folder, workspace};

const MATURIN: &str = "maturin==1.16.0\nhatchling==1.27.0\n";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The system that these tests run on, as npm packages name it.
const PLATFORM: &str = if cfg!(all(target_os = "macos", target_arch = "aarch64")) {
    "darwin-arm64"
} else if cfg!(target_os = "macos") {
    "darwin-x64"
} else if cfg!(target_arch = "aarch64") {
    "linux-arm64-gnu"
} else {
    "linux-x64-gnu"
};

/// Runs a process to a good end.
#[track_caller]
fn runs(command: &mut Command) -> Finished {
    process::run(command).exits(0)
}

/// The program by the name that the packages give it, in a folder.
fn named_program(folder: &Folder) -> PathBuf {
    let file = folder.at("named/mcptest-harness");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    if fs::hard_link(program(), &file).is_err() {
        fs::copy(program(), &file).unwrap();
    }
    file
}

/// A `PATH` that has these programs and those of a folder alone.
fn path_with(folder: &Folder, own: &Path, programs: &[&str]) -> OsString {
    let tools = folder.at("tools");
    fs::create_dir_all(&tools).unwrap();
    let all: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH").unwrap()).collect();
    for name in programs {
        let mut found = all.iter().map(|place| place.join(name));
        let found = found.rfind(|file| file.is_file());
        let found = found.unwrap_or_else(|| panic!("`{name}` is on the PATH"));
        #[cfg(unix)]
        std::os::unix::fs::symlink(found.canonicalize().unwrap(), tools.join(name)).unwrap();
    }
    let path = std::env::join_paths([own, &tools]).unwrap();
    let places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    assert!(places.iter().all(|place| !place.join("cargo").exists()));
    path
}

/// The words of a line behind the name of its program, without quotes.
#[track_caller]
fn words<'l>(line: &'l str, program: &str) -> Vec<&'l str> {
    let mut words = line.split_whitespace();
    assert_eq!(words.next(), Some(program), "{line}");
    words.map(|word| word.trim_matches('"')).collect()
}

/// The wheels that the page needs and that are not ours, fetched once.
fn wheels_of_others(python: &Path) -> PathBuf {
    let place = kept_folder().join("pypi").join("page-wheels");
    let wanted = REQUIREMENTS.lines();
    let wanted = wanted.filter(|line| line.starts_with("pydantic-ai-slim"));
    let wanted: Vec<&str> = wanted.collect();
    let done = place.join("wanted");
    if fs::read_to_string(&done).is_ok_and(|old| old == wanted.join("\n")) {
        return place;
    }
    let mut download = Command::new(python);
    download
        .args([
            "-m",
            "pip",
            "download",
            "--quiet",
            "--disable-pip-version-check",
            "--dest",
        ])
        .arg(&place)
        .args(&wanted);
    runs(&mut download);
    fs::write(done, wanted.join("\n")).unwrap();
    place
}

/// Both wheels of ours, in a folder.
fn wheels(python: &Path, folder: &Folder) -> PathBuf {
    let place = folder.at("wheels");
    fs::create_dir_all(&place).unwrap();
    let maturin = python.with_file_name("maturin");
    let mut metadata = Command::new(maturin);
    metadata
        .current_dir(workspace().join("packages/pypi-cli"))
        .args(["pep517", "write-dist-info", "--interpreter"])
        .arg(python)
        .arg("--metadata-directory")
        .arg(folder.path());
    runs(&mut metadata);
    let metadata = format!("mcptest_harness_cli-{VERSION}.dist-info");
    let mut wheel = Command::new(python);
    wheel.arg(workspace().join("tests/needs/wheel.py")).args([
        folder.at(&metadata),
        named_program(folder),
        place.clone(),
    ]);
    runs(&mut wheel);
    let mut library = Command::new(python);
    library
        .args([
            "-m",
            "pip",
            "wheel",
            "--quiet",
            "--disable-pip-version-check",
        ])
        .args(["--no-deps", "--no-build-isolation", "--wheel-dir"])
        .args([&place, &workspace().join("python")]);
    runs(&mut library);
    place
}

pub(crate) fn the_page_on_python_from_an_empty_environment() {
    let builder = kept_folder().join("pypi").join("maturin");
    installed_once(&builder, MATURIN);
    let python = builder.join("bin/python");
    let folder = Folder::new();
    let own = wheels(&python, &folder);
    let others = wheels_of_others(&python);
    let environment = folder.at("environment");
    runs(Command::new(&python).args(["-m", "venv"]).arg(&environment));
    let programs = environment.join("bin");
    let path = path_with(&folder, &programs, &["sh"]);
    let install = |line: &str| {
        let mut pip = process::command(programs.join("pip"), folder.path());
        pip.args(words(line, "pip"))
            .env("PATH", &path)
            .env("PIP_NO_INDEX", "1")
            .env("PIP_NO_COMPILE", "1")
            .env("PIP_DISABLE_PIP_VERSION_CHECK", "1")
            .env(
                "PIP_FIND_LINKS",
                format!("{} {}", own.display(), others.display()),
            );
        runs(&mut pip);
    };
    let program = programs.join("mcptest-harness");
    let at = |folder| Installation {
        folder,
        call: "mcptest-harness",
        program: &program,
        path: &path,
        install: &install,
    };
    let (page, readme) = (Folder::new(), Folder::new());
    the_page_on_python(&at(&page));
    the_readme(&at(&readme));
}

/// The npm packages of a program, packed: by name, with their files.
fn npm_packages(folder: &Folder, program: &Path) -> [(String, PathBuf); 2] {
    let place = folder.at("packages");
    let mut build = Command::new("node");
    build
        .arg(workspace().join("packages/npm/build.mjs"))
        .arg(&place)
        .arg(format!("{PLATFORM}={}", program.display()));
    runs(&mut build);
    ["cli".to_owned(), format!("cli-{PLATFORM}")].map(|name| {
        let mut pack = Command::new("npm");
        // The fastest packing: the program is large, and nobody downloads it.
        pack.current_dir(place.join(&name))
            .args(["pack", "--silent"]);
        let packed = runs(&mut pack).stdout;
        let file = place.join(&name).join(packed.trim());
        (format!("@mcptest-harness/{name}"), file)
    })
}

pub(crate) fn the_page_on_typescript_from_an_empty_folder() {
    let folder = Folder::new();
    let ours = npm_packages(&folder, &named_program(&folder));
    let project = Folder::new();
    let programs = project.at("node_modules/.bin");
    let path = path_with(&folder, &programs, &["sh", "node", "npm", "npx"]);
    // Names become versions that are known to work, and files of packages that no registry has.
    let wanted = |name: &str| {
        if let Some((_, file)) = ours.iter().find(|(own, _)| own == name) {
            return vec![file.display().to_string(), ours[1].1.display().to_string()];
        }
        if name == "mcptest-harness" {
            return vec![library_for_typescript().display().to_string()];
        }
        let begin = format!("\"{name}\": \"");
        let (_, rest) = PACKAGE
            .split_once(&begin)
            .unwrap_or_else(|| panic!("{name}"));
        let (version, _) = rest.split_once('"').unwrap();
        vec![format!("{name}@{version}")]
    };
    let install = |line: &str| {
        let words = words(line, "npm").into_iter();
        let (options, names): (Vec<&str>, Vec<&str>) =
            words.partition(|word| word.starts_with('-') || *word == "install");
        let mut npm = process::command(folder.at("tools/npm"), project.path());
        npm.args(options)
            .args(["--no-audit", "--no-fund", "--prefer-offline"])
            .args(names.into_iter().flat_map(wanted))
            .env("PATH", &path);
        runs(&mut npm);
    };
    the_page_on_typescript(&Installation {
        folder: &project,
        call: "npx mcptest-harness",
        program: &folder.at("tools/npx"),
        path: &path,
        install: &install,
    });
}

/// A folder where the launcher is installed beside a program of a platform, which is a script.
fn launched(program: &str) -> (Folder, PathBuf) {
    let folder = Folder::new().with_file("made/mcptest-harness", program);
    let (place, made) = (
        folder.at("node_modules/@mcptest-harness"),
        folder.at("made/mcptest-harness"),
    );
    let mut build = Command::new("node");
    build
        .arg(workspace().join("packages/npm/build.mjs"))
        .arg(&place)
        .arg(format!("{PLATFORM}={}", made.display()));
    runs(&mut build);
    let launcher = place.join("cli/bin/mcptest-harness.js");
    (folder, launcher)
}

fn launch(launcher: &Path, folder: &Folder, words: &[&str]) -> Command {
    let mut node = process::command("node", folder.path());
    node.arg(launcher).args(words);
    node
}

pub(crate) fn the_launcher_passes_everything_through() {
    let script = "#!/bin/sh\nprintf '%s|' \"$@\"\nread line\necho \"$line\" >&2\nexit 42\n";
    let (folder, launcher) = launched(script);
    let mut node = launch(&launcher, &folder, &["record", "a b", "", "--x=\u{1f980}"]);
    let said = process::run(&mut node).exits(42);
    assert_eq!(said.stdout, "record|a b||--x=\u{1f980}|");
    let (folder, launcher) = launched("#!/bin/sh\nkill -TERM $$\n");
    let said = process::run(&mut launch(&launcher, &folder, &[]));
    assert_eq!(said.code, None, "a signal ends it: {said}");
    // A signal to the launcher is one to the program, which may end as it likes.
    let script = "#!/bin/sh\ntrap 'echo trapped; exit 7' TERM\nkill -TERM $PPID\nfor i in 1 2 3 4 5 6 7 8 9; do sleep 1; done\n";
    let (folder, launcher) = launched(script);
    let said = process::run(&mut launch(&launcher, &folder, &[])).exits(7);
    assert_eq!(said.stdout, "trapped\n");
}

pub(crate) fn the_launcher_says_what_is_missing() {
    let (folder, launcher) = launched("#!/bin/sh\n");
    let package = format!("@mcptest-harness/cli-{PLATFORM}");
    fs::remove_dir_all(folder.at("node_modules").join(&package)).unwrap();
    let said = process::run(&mut launch(&launcher, &folder, &[])).exits(2);
    let problem = format!(
        "error: the package {package} is not installed, which has the program for this system\n"
    );
    assert!(said.stderr.starts_with(&problem), "{said}");
    assert!(
        said.stderr.contains("`npm install --include=optional`"),
        "{said}"
    );
    let platforms = launcher.parent().unwrap().with_file_name("platforms.json");
    fs::write(platforms, r#"{ "other-cpu": {} }"#).unwrap();
    let said = process::run(&mut launch(&launcher, &folder, &[])).exits(2);
    assert!(
        said.stderr
            .starts_with("error: there is no program of mcptest-harness for "),
        "{said}"
    );
    assert!(
        said.stderr.contains("there are programs for other-cpu; "),
        "{said}"
    );
}
