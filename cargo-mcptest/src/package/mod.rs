//! The crate that a command is about, as `cargo metadata` finds it.
//!
//! A command is about one package: the one whose folder it is called in, or the only one of a
//! workspace that has agent tests, or the one that `--package` names. Where there is no crate at all, a folder of
//! suites is enough: agents in other languages have no `Cargo.toml`.

mod metadata;
#[cfg(test)]
mod tests;
mod versions;

use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, Metadata};
use mcptest::command::{command_line, keep_options};
use mcptest_suite::{escape_line, nearest, quoted_list};

use crate::failure::Failure;

pub(crate) use versions::Versions;

/// The harness's package, and its library's usual name.
pub(crate) const HARNESS: &str = "mcptest-harness";
const USUAL: &str = "mcptest";

/// The folder of suites, where a package says no other.
const SUITES: &str = "suites";

/// Which package a command is about.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Selection {
    /// The package, if several packages of the workspace have agent tests.
    #[arg(short, long, value_name = "NAME")]
    package: Option<String>,
    /// The `Cargo.toml` of the package or of the workspace.
    #[arg(long, value_name = "PATH")]
    manifest_path: Option<PathBuf>,
    /// A folder of suites, for a project without a crate.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["package", "manifest_path"])]
    suites: Option<PathBuf>,
}

/// Which package a command judges.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Judging {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Also judge a package that is locked to another minor version of the harness.
    #[arg(long)]
    pub(crate) any_version: bool,
}

/// A package of the workspace.
#[derive(Debug, Clone)]
pub(crate) struct FoundPackage {
    pub(crate) name: String,
    /// Where its `Cargo.toml` is.
    pub(crate) folder: PathBuf,
    /// Where its suites are, relative to the folder.
    pub(crate) roots: Vec<PathBuf>,
    /// What its code calls the harness; `None` where it does not depend on it.
    pub(crate) harness: Option<String>,
    /// The sources of its test targets.
    pub(crate) tests: Vec<TestTarget>,
    /// The folder of the workspace's own `Cargo.toml`.
    pub(crate) workspace: PathBuf,
    /// Cargo's folder of what is built.
    pub(crate) target: PathBuf,
    pub(crate) versions: Versions,
    /// Its folder in the work tree, where this is what it has at a revision.
    pub(crate) work_tree: Option<PathBuf>,
    /// Whether it says where its suites are.
    named_roots: bool,
}

/// A test target of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TestTarget {
    pub(crate) name: String,
    pub(crate) source: PathBuf,
}

impl Judging {
    /// The package whose suites are judged, of a version that this command can speak for.
    pub(crate) fn find(&self) -> Result<FoundPackage, Failure> {
        let package = self.selection.find_tested()?;
        keep_options(&self.selection.to_arguments());
        package.versions.check(&package.name, self.any_version)?;
        Ok(package)
    }
}

impl Selection {
    /// A package, whether it has agent tests or not.
    pub(crate) fn find_any(&self) -> Result<FoundPackage, Failure> {
        if self.suites.is_some() {
            return Err(
                Failure::new("`--suites` names a folder that belongs to no crate")
                    .with_help("remove `--suites`, and run the command in the folder of a crate"),
            );
        }
        let metadata = self.load_metadata()?;
        if let Some(name) = &self.package {
            return FoundPackage::find_named(&metadata, name);
        }
        if let Some(package) = self.current_package(&metadata)? {
            return Ok(package);
        }
        match metadata.workspace_packages().as_slice() {
            [package] => FoundPackage::from_metadata(&metadata, package),
            packages => Err(several_packages(&names(packages))),
        }
    }

    /// Where the suite of a program goes: a package, or a folder where there is no crate.
    pub(crate) fn find_for_program(&self) -> Result<FoundPackage, Failure> {
        let here = std::env::current_dir()?;
        if let Some(suites) = &self.suites {
            return Ok(FoundPackage::from_folder(here, suites.clone()));
        }
        if !self.names_crate() && !in_crate(&here) {
            return Ok(FoundPackage::from_folder(here, PathBuf::from(SUITES)));
        }
        self.find_any()
    }

    /// Whether it names a crate.
    fn names_crate(&self) -> bool {
        self.package.is_some() || self.manifest_path.is_some()
    }

    /// Whether no crate is there, nor named.
    pub(crate) fn is_without_crate(&self) -> bool {
        let here = std::env::current_dir();
        !self.names_crate() && here.is_ok_and(|here| !in_crate(&here))
    }

    /// The options that choose the same folder of suites again.
    pub(crate) fn to_arguments(&self) -> Vec<String> {
        let suites = self
            .suites
            .as_ref()
            .map(|it| ("--suites", it.display().to_string()));
        let manifest = self
            .manifest_path
            .as_ref()
            .map(|it| ("--manifest-path", it.display().to_string()));
        let package = self.package.as_ref().map(|it| ("-p", it.clone()));
        let named = suites.into_iter().chain(manifest).chain(package);
        named
            .flat_map(|(option, value)| [option.to_owned(), value])
            .collect()
    }

    /// A package that has agent tests.
    pub(crate) fn find_tested(&self) -> Result<FoundPackage, Failure> {
        if let Some(folder) = self.find_folder()? {
            return Ok(folder);
        }
        let metadata = self.load_metadata()?;
        let chosen = match &self.package {
            Some(name) => Some(FoundPackage::find_named(&metadata, name)?),
            None => self.current_package(&metadata)?,
        };
        if let Some(package) = chosen.as_ref().filter(|package| package.has_agent_tests()) {
            return Ok(package.clone());
        }
        // Its own suites are meant, though no test of it runs them.
        if let Some(package) = chosen.as_ref().filter(|package| package.has_suites()) {
            return Ok(package.as_folder());
        }
        let packages = metadata.workspace_packages().into_iter();
        let packages: Result<Vec<FoundPackage>, Failure> = packages
            .map(|package| FoundPackage::from_metadata(&metadata, package))
            .collect();
        let (mut tested, others): (Vec<_>, Vec<_>) = packages?
            .into_iter()
            .partition(FoundPackage::has_agent_tests);
        if tested.is_empty() && chosen.is_none() {
            let alone = others.iter().filter(|package| package.has_suites());
            let alone: Vec<&FoundPackage> = alone.collect();
            match alone.as_slice() {
                [] => {}
                [package] => return Ok(package.as_folder()),
                several => {
                    let names: Vec<&str> = several.iter().map(|it| it.name.as_str()).collect();
                    return Err(self::several_packages(&names));
                }
            }
        }
        let names: Vec<&str> = tested.iter().map(|package| package.name.as_str()).collect();
        if let Some(package) = chosen {
            return Err(package.has_none(&names));
        }
        match tested.len() {
            0 if metadata.workspace_root.join(SUITES).is_dir() => Ok(FoundPackage::from_folder(
                metadata.workspace_root.as_std_path().to_owned(),
                PathBuf::from(SUITES),
            )),
            0 => Err(Failure::new(format!(
                "no package of this workspace has a folder `{SUITES}` or depends on `{HARNESS}`"
            ))
            .with_help(format!(
                "`{}` gives a package its first agent test",
                command_line("init -p <package>")
            ))),
            1 => Ok(tested.remove(0)),
            _ => Err(several_packages(&names)),
        }
    }

    /// The folder whose suites are meant, where they belong to no crate.
    fn find_folder(&self) -> Result<Option<FoundPackage>, Failure> {
        let here = std::env::current_dir()?;
        if let Some(suites) = &self.suites {
            let root = here.join(suites);
            if !root.is_dir() {
                let shown = escape_line(&suites.display().to_string()).into_owned();
                return Err(Failure::new(format!("there is no folder `{shown}`"))
                    .with_help("give the folder that holds the suites, e.g. `--suites suites`"));
            }
            return Ok(Some(FoundPackage::from_folder(here, suites.clone())));
        }
        let root = PathBuf::from(SUITES);
        let found = !self.names_crate() && !in_crate(&here) && here.join(&root).is_dir();
        Ok(found.then(|| FoundPackage::from_folder(here, root)))
    }

    fn load_metadata(&self) -> Result<Metadata, Failure> {
        metadata::read(self.manifest_path.as_deref())
    }

    /// The package whose folder this is, or a folder in it; `None` at the top of a workspace that is
    /// no package itself.
    fn current_package(&self, metadata: &Metadata) -> Result<Option<FoundPackage>, Failure> {
        let here = match &self.manifest_path {
            Some(manifest) => std::path::absolute(manifest)?
                .parent()
                .map(Path::to_owned)
                .unwrap_or_default(),
            None => std::env::current_dir()?,
        };
        let here = here.canonicalize().unwrap_or(here);
        let folder = |package: &&cargo_metadata::Package| {
            let folder = package.manifest_path.parent()?.as_std_path();
            let folder = folder.canonicalize().ok()?;
            here.starts_with(&folder)
                .then(|| folder.components().count())
        };
        let packages = metadata.workspace_packages().into_iter();
        let around = packages.filter_map(|package| Some((folder(&package)?, package)));
        let nearest = around.max_by_key(|(depth, _)| *depth);
        nearest
            .map(|(_, package)| FoundPackage::from_metadata(metadata, package))
            .transpose()
    }
}

impl FoundPackage {
    /// The package as a revision has it: its files are in another folder, its work tree stays known.
    pub(crate) fn at_revision(self, folder: &Path) -> Self {
        Self {
            work_tree: self.work_tree.or(Some(self.folder)),
            folder: folder.to_owned(),
            ..self
        }
    }

    /// A folder with suites and no crate. Its name is empty: no command of cargo is about it.
    pub(crate) fn from_folder(folder: PathBuf, root: PathBuf) -> Self {
        Self {
            name: String::new(),
            roots: vec![root],
            harness: None,
            tests: Vec::new(),
            workspace: folder.clone(),
            target: folder.join("target"),
            versions: Versions::without_crate(),
            work_tree: None,
            named_roots: true,
            folder,
        }
    }

    fn find_named(metadata: &Metadata, name: &str) -> Result<Self, Failure> {
        let packages = metadata.workspace_packages();
        if let Some(package) = packages.iter().find(|package| *package.name == name) {
            return Self::from_metadata(metadata, package);
        }
        let names = names(&packages);
        let failure = Failure::new(format!(
            "the workspace has no package `{}`",
            escape_line(name)
        ));
        Err(match nearest(name, names.iter().copied()) {
            Some(near) => failure.with_help(format!("did you mean `{near}`?")),
            None => failure.with_help(format!("it has {}", quoted_list(names))),
        })
    }

    fn from_metadata(
        metadata: &Metadata,
        package: &cargo_metadata::Package,
    ) -> Result<Self, Failure> {
        let folder = package.manifest_path.parent();
        let folder = folder
            .map(|folder| folder.as_std_path().to_owned())
            .unwrap_or_default();
        let named = metadata::declared_roots(package)?;
        let tests = package.targets.iter().filter(|target| target.is_test());
        Ok(Self {
            name: package.name.to_string(),
            work_tree: None,
            named_roots: named.is_some(),
            roots: named.unwrap_or_else(|| vec![PathBuf::from(SUITES)]),
            harness: harness_name(package),
            tests: tests
                .map(|target| TestTarget {
                    name: target.name.clone(),
                    source: target.src_path.as_std_path().to_owned(),
                })
                .collect(),
            workspace: metadata.workspace_root.as_std_path().to_owned(),
            target: metadata.target_directory.as_std_path().to_owned(),
            versions: Versions::read(metadata.workspace_root.as_std_path(), package)?,
            folder,
        })
    }

    /// Whether it is a crate, and no folder of suites alone.
    pub(crate) fn is_crate(&self) -> bool {
        !self.name.is_empty()
    }

    /// What a person types to judge all of it.
    pub(crate) fn test_command(&self) -> String {
        if self.is_crate() {
            "cargo test".to_owned()
        } else {
            command_line("test")
        }
    }

    /// Whether it depends on the harness, or says itself where its suites are.
    fn has_agent_tests(&self) -> bool {
        self.harness.is_some() || self.named_roots
    }

    /// Whether it has suites where they usually are.
    fn has_suites(&self) -> bool {
        self.folder.join(SUITES).is_dir()
    }

    /// The package's folder as a folder of suites without a crate: no test of the package runs these suites, so
    /// messages name no command of cargo.
    fn as_folder(&self) -> Self {
        Self::from_folder(self.folder.clone(), PathBuf::from(SUITES))
    }

    fn has_none(&self, others: &[&str]) -> Failure {
        let failure = Failure::new(format!(
            "the package `{}` has no folder `{SUITES}`, and does not depend on `{HARNESS}`",
            self.name
        ));
        if others.is_empty() {
            return failure.with_help(format!(
                "`{}` gives it its first agent test",
                command_line(&format!("init -p {}", self.name))
            ));
        }
        failure.with_help(format!(
            "of this workspace {} do; choose one with `-p`",
            quoted_list(others.iter().copied())
        ))
    }
}

/// Whether a folder is in a crate or a workspace.
fn in_crate(folder: &Path) -> bool {
    let mut around = folder.ancestors();
    around.any(|folder| folder.join("Cargo.toml").is_file())
}

fn names<'a>(packages: &[&'a cargo_metadata::Package]) -> Vec<&'a str> {
    packages
        .iter()
        .map(|package| package.name.as_str())
        .collect()
}

fn several_packages(names: &[&str]) -> Failure {
    Failure::new(format!(
        "there are several packages here: {}",
        quoted_list(names.iter().copied())
    ))
    .with_help("choose one with `-p`")
}

/// What a package's code calls the harness.
fn harness_name(package: &cargo_metadata::Package) -> Option<String> {
    let tests_use = |kind| matches!(kind, DependencyKind::Normal | DependencyKind::Development);
    let harness = package.dependencies.iter().find(|dependency| {
        dependency.name == HARNESS && tests_use(dependency.kind) && !dependency.optional
    })?;
    let renamed = harness.rename.as_ref().map(|name| name.replace('-', "_"));
    Some(renamed.unwrap_or_else(|| USUAL.to_owned()))
}
