//! Which state of which project a report shows, and when it was written.

use std::path::Path;

use jiff::Timestamp;
use serde::Serialize;

use crate::compare::Compared;
use crate::git::CommitState;
use crate::judging::OpenPackage;

/// Which state of which project a report shows, and when it was written.
#[derive(Debug, Default, Serialize)]
pub(super) struct ReportState {
    /// The name of the package, or of the folder where there is no package.
    pub(super) project: String,
    /// The commit; nothing where there is none.
    pub(super) commit: Option<CommitState>,
    /// The day on which the report was written.
    pub(super) day: Option<String>,
}

impl ReportState {
    /// `work_tree`: the package where it is, also where a revision of it is judged.
    pub(super) fn read(work_tree: &OpenPackage, compared: Option<&Compared>) -> Self {
        let package = &work_tree.package;
        let folder = &package.folder;
        let revision = compared.and_then(Compared::candidate_commit);
        let commit = if let Some(commit) = revision {
            CommitState::at(folder, &commit)
        } else {
            let recordings = work_tree.recording_folders();
            let roots = package.roots.iter().map(|root| folder.join(root));
            CommitState::checked_out(folder, recordings.into_iter().chain(roots))
        };
        Self {
            project: project_name(&package.name, folder),
            commit,
            day: Some(Timestamp::now().strftime("%Y-%m-%d").to_string()),
        }
    }
}

/// The name of a package. A folder of suites without a crate has none, and is called as the folder.
fn project_name(package: &str, folder: &Path) -> String {
    if !package.is_empty() {
        return package.to_owned();
    }
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let name = folder.file_name();
    name.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}
