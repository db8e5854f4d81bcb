//! What lies below a folder, and files that are there whole or not at all.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use mcptest::judge::AgentTest;
use tempfile::NamedTempFile;
use walkdir::{DirEntry, WalkDir};

/// The files below a folder that end so, in the order of their names; what is hidden or has one of some names
/// is passed over.
pub(crate) fn find_files(folder: &Path, ends: &[&str], passed_over: &[&str]) -> Vec<PathBuf> {
    let wanted = |entry: &DirEntry| {
        let name = entry.file_name().to_string_lossy();
        entry.depth() == 0 || !(name.starts_with('.') || passed_over.contains(&&*name))
    };
    let entries = WalkDir::new(folder).sort_by_file_name().into_iter();
    let entries = entries.filter_entry(wanted).flatten();
    let files = entries.filter(|entry| {
        let end = entry.path().extension().and_then(|end| end.to_str());
        entry.file_type().is_file() && end.is_some_and(|end| ends.contains(&end))
    });
    files.map(DirEntry::into_path).collect()
}

/// Puts a text in the place of a file, or makes the file. The old text or the new one is there, and whole, whatever
/// happens. What is no regular file, as `/dev/stdout`, takes the text as it is.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let old = match fs::metadata(path) {
        Ok(old) if !old.is_file() => return fs::write(path, text),
        old => old.ok(),
    };
    let Some(old) = old else {
        write_temporary(path, text)?.persist(path)?;
        return Ok(());
    };
    // The file that a link leads to, and not the link.
    let path = path.canonicalize()?;
    let file = write_temporary(&path, text)?;
    file.as_file().set_permissions(old.permissions())?;
    file.persist(&path)?;
    Ok(())
}

/// Puts a text into a file below a folder, and makes the folders on the way. Links on the way are refused: whoever made
/// them does not choose what is written to.
pub(crate) fn replace_below(folder: &Path, name: &str, text: &str) -> io::Result<PathBuf> {
    let mut path = folder.to_owned();
    for part in Path::new(name) {
        path.push(part);
        if path.is_symlink() {
            return Err(io::Error::other(format!(
                "`{}` is a symbolic link, and the command follows none there; remove the link",
                path.display()
            )));
        }
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
        ignore_in_git(folder)?;
    }
    replace(&path, text)?;
    Ok(path)
}

/// Lets git pass over a folder of what is written anew each time.
fn ignore_in_git(folder: &Path) -> io::Result<()> {
    match create(&folder.join(".gitignore"), "*\n") {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// Makes a file, whole. An error of the kind `AlreadyExists` says that the name is taken.
pub(crate) fn create(path: &Path, text: &str) -> io::Result<()> {
    write_temporary(path, text)?.persist_noclobber(path)?;
    Ok(())
}

/// A text in a file beside the one that it is meant for.
fn write_temporary(path: &Path, text: &str) -> io::Result<NamedTempFile> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let mut file = tempfile::Builder::new();
    file.prefix(".writing-");
    // The rights that any new file has, and not those of a secret.
    #[cfg(unix)]
    file.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = file.tempfile_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(text.as_bytes())?;
    // Some disks are full only when they are asked to keep what was written.
    file.as_file().sync_all()?;
    Ok(file)
}

/// The stem that a recording is of: its folder's name where it is one of several, else its own.
pub(crate) fn stem(place: &Path, path: &Path) -> Option<String> {
    let parent = path.parent().filter(|parent| *parent != place);
    let named = parent.unwrap_or(path);
    let name = if parent.is_some() {
        named.file_name()
    } else {
        named.file_stem()
    };
    Some(name?.to_string_lossy().into_owned())
}

/// The part of a `cassette:` that is no pattern.
pub(crate) fn literal_prefix(cassette: &str) -> PathBuf {
    let plain = cassette
        .split('/')
        .take_while(|part| !part.contains(['*', '?', '[']));
    plain.collect()
}

/// The stems that recordings of an agent may have with its model.
pub(crate) fn recording_stems(agent: &AgentTest<'_>) -> Vec<String> {
    let test = agent.agent();
    let mut models = test.models.iter();
    let model = models.find(|model| model.value.id == agent.model());
    let stems = model.map(|model| test.cassette_stems(&model.value));
    stems.unwrap_or_default()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn what_is_replaced_keeps_its_rights_and_the_links_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("file", &link).unwrap();
        replace(&link, "new").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o640
        );
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        // A new file is no secret, and nothing else is left in the folder.
        replace(&folder.path().join("other"), "new").unwrap();
        let other = fs::metadata(folder.path().join("other")).unwrap();
        assert_ne!(other.permissions().mode() & 0o077, 0);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[test]
    fn below_a_folder_no_link_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (target, victim) = (folder.path().join("target"), folder.path().join("victim"));
        fs::create_dir_all(victim.join("mutants")).unwrap();
        fs::write(victim.join("file"), "old").unwrap();
        let made = replace_below(&target, "mcptest/mutants/a.txt", "new").unwrap();
        assert_eq!(fs::read_to_string(&made).unwrap(), "new");
        fs::remove_file(&made).unwrap();
        symlink(victim.join("file"), &made).unwrap();
        let refused = |said: io::Error, link: &Path| {
            let told = format!(
                "`{}` is a symbolic link, and the command follows none there; remove the link",
                link.display()
            );
            assert_eq!(said.to_string(), told);
        };
        refused(
            replace_below(&target, "mcptest/mutants/a.txt", "new").unwrap_err(),
            &made,
        );
        fs::remove_dir_all(target.join("mcptest")).unwrap();
        symlink(&victim, target.join("mcptest")).unwrap();
        refused(
            replace_below(&target, "mcptest/mutants/a.txt", "new").unwrap_err(),
            &target.join("mcptest"),
        );
        assert_eq!(fs::read_to_string(victim.join("file")).unwrap(), "old");
        assert_eq!(fs::read_dir(victim.join("mutants")).unwrap().count(), 0);
        // The build's own folder may be a link.
        symlink(&victim, folder.path().join("linked")).unwrap();
        replace_below(&folder.path().join("linked"), "mcptest/a.txt", "new").unwrap();
    }

    #[test]
    fn a_pipe_takes_the_text_and_stays_a_pipe() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read_to_string(pipe).unwrap()
        });
        replace(&pipe, "page").unwrap();
        assert_eq!(reader.join().unwrap(), "page");
        assert!(!fs::metadata(&pipe).unwrap().is_file());
    }

    #[test]
    fn a_file_that_is_there_is_never_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        create(&file, "old").unwrap();
        let error = create(&file, "new").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&file).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
