//! Names of files that are not longer than a file system takes.

use mcptest_trace::record::fingerprint;

/// A name of at most so many bytes, 17 or more: of a longer one the beginning and a fingerprint.
pub(crate) fn short_name(name: &str, most: usize) -> String {
    if name.len() <= most {
        return name.to_owned();
    }
    let end = name.floor_char_boundary(most - 17);
    format!("{}-{}", &name[..end], fingerprint(name))
}
