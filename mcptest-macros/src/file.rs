//! Finding and loading the suite file.

use std::path::{Path, PathBuf};

use mcptest_suite::{Diagnostic, LoadError, Style, model::Suite, portable_path};
use syn::{Error, Ident, LitStr};

use crate::dependency::harness_crate_name;

/// A loaded suite file.
pub(crate) struct Loaded {
    pub(crate) suite: Suite,
    pub(crate) path: PathBuf,
    /// Relative to the crate.
    pub(crate) shown: String,
    /// Relative to its root.
    pub(crate) relative: String,
    /// What the crate calls the harness.
    pub(crate) harness: Ident,
}

/// The file is `suites/<path>`, then `<path>`, from the crate's folder.
pub(crate) fn load(literal: &LitStr) -> Result<Loaded, Error> {
    let fail = |message: String| Error::new(literal.span(), message);
    let written = literal.value();
    let relative = Path::new(&written);
    if written.trim().is_empty() || relative.is_absolute() {
        return Err(fail(
            "expected the path of a suite file, relative to `suites/` or to the crate".to_owned(),
        ));
    }
    let crate_dir = std::env::var_os("CARGO_MANIFEST_DIR")
        .map(PathBuf::from)
        .ok_or_else(|| {
            fail("cargo did not say where the crate is (CARGO_MANIFEST_DIR)".to_owned())
        })?;
    let candidates = [Path::new("suites").join(relative), relative.to_owned()];
    let found: Vec<_> = candidates
        .iter()
        .filter(|path| crate_dir.join(path).is_file())
        .collect();
    let file = match found.as_slice() {
        [file] => *file,
        [] => {
            let [first, second] = candidates.map(|path| portable_path(&path));
            return Err(fail(format!(
                "no suite file: neither `{first}` nor `{second}` exists in {}",
                portable_path(&crate_dir)
            )));
        }
        [first, second, ..] => {
            return Err(fail(format!(
                "two suite files fit: `{}` and `{}`; rename one of them",
                portable_path(first),
                portable_path(second)
            )));
        }
    };
    let (path, shown) = (crate_dir.join(file), portable_path(file));
    let suite = Suite::read(&path, &shown).map_err(|error| {
        fail(format!(
            "the suite does not load\n\n{}",
            error.render(Style::Plain)
        ))
    })?;
    Ok(Loaded {
        suite,
        path,
        shown,
        relative: portable_path(relative),
        harness: Ident::new(&harness_crate_name(&crate_dir), literal.span()),
    })
}

/// Refuses a suite whose agents have a command beside the attribute's function: an agent has one driver.
pub(crate) fn check_no_command(literal: &LitStr, loaded: &Loaded) -> Result<(), Error> {
    let agents = loaded.suite.agents.iter();
    let problems = agents.filter_map(|agent| {
        let command = agent.command.as_ref()?;
        let name = &agent.name.value;
        let message = format!("`{name}` has a command, and also the function of this attribute");
        let problem = Diagnostic::at(command.span, message);
        Some(problem.help(
            "leave `command:` or `agent = …` out, or move this agent into a suite of its own",
        ))
    });
    let problems: Vec<_> = problems.collect();
    if problems.is_empty() {
        return Ok(());
    }
    let error = LoadError::new(loaded.suite.source.clone(), problems);
    let message = format!(
        "an agent has a command and a function\n\n{}",
        error.render(Style::Plain)
    );
    Err(Error::new(literal.span(), message))
}
