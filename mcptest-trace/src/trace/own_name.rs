//! A tool's own name, behind what a client writes before it: `mcp__fs__delete_file`, `fs_delete_file`,
//! `functions.fs_delete_file`.

use super::tool_name::{split_server, to_snake_case};

/// How often something may stand before a name.
const MOST: usize = 3;

/// What may be the tool's own name behind what a client writes before it: the names of these servers, and groups.
pub(crate) fn own_names(name: &str, servers: &[&str]) -> Vec<String> {
    let mut found: Vec<String> = vec![name.to_owned()];
    let mut from = 0;
    for _ in 0..MOST {
        let before = found.len();
        for place in from..before {
            let one = found[place].clone();
            let plain = without_mcp(&one);
            let behind = servers
                .iter()
                .flat_map(|server| strip_server(plain, server));
            let own = split_server(&one).1;
            let more = [
                own.to_owned(),
                to_snake_case(own).into_owned(),
                plain.to_owned(),
            ];
            for name in more.into_iter().chain(behind) {
                if !name.is_empty() && !found.contains(&name) {
                    found.push(name);
                }
            }
        }
        from = before;
    }
    found.remove(0);
    found
}

/// A name without `mcp_`, `mcp__` or, as some clients number their servers, `mcp0_`.
pub(super) fn without_mcp(name: &str) -> &str {
    let rest = name.strip_prefix("mcp").unwrap_or_default();
    let rest = rest.trim_start_matches(|sign: char| sign.is_ascii_digit());
    match rest.trim_start_matches('_') {
        own if own.len() < rest.len() && !own.is_empty() => own,
        _ => name,
    }
}

/// The rest of a tool's name behind the name of its server, as the client spells it and in snake case.
pub(super) fn strip_server(name: &str, server: &str) -> Vec<String> {
    let parted = |head: &str| {
        let (start, rest) = name.split_at_checked(head.len())?;
        let own = rest.trim_start_matches(['_', '-', '.', '/', ':']);
        let is_parted = own.len() < rest.len() && !own.is_empty();
        (start.eq_ignore_ascii_case(head) && is_parted).then(|| own.to_owned())
    };
    let spelt = parted(server).or_else(|| parted(&to_snake_case(server)));
    // Clients replace what may not stand in a name: `_acme_fs` of *@acme/fs*.
    let (whole, head) = (folded(&to_snake_case(name)), folded(&to_snake_case(server)));
    let own = whole.strip_prefix(&head).filter(|_| !head.is_empty());
    let own = own.and_then(|own| own.strip_prefix('_'));
    spelt.into_iter().chain(own.map(str::to_owned)).collect()
}

/// A name in which each sign that no letter of ASCII and no digit is, is a `_`.
fn folded(name: &str) -> String {
    let parts = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    parts.join("_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_before_a_name_is_no_part_of_it() {
        for (name, server) in [
            ("delete_file", "fs"),
            ("fs_delete_file", "fs"),
            ("mcp__fs__delete_file", ""),
            ("mcp__fs_delete_file", "fs"),
            ("mcp_fs_delete_file", "fs"),
            ("mcp0_delete_file", ""),
            ("functions.fs_delete_file", "fs"),
            ("default_api:fs_delete_file", "fs"),
            ("_acme_fs_delete_file", "@acme/fs"),
            ("gr_e_delete_file", "größe"),
            ("My-Server.deleteFile", "my_server"),
        ] {
            let own = own_names(name, &[server]);
            let is = name == "delete_file" || own.iter().any(|own| own == "delete_file");
            assert!(is, "{name} of {server}: {own:?}");
        }
        for (name, server) in [
            ("fs_undelete_file", "fs"),
            ("soft_delete_file", "fs"),
            ("fsdelete_file", "fs"),
            ("mcpdelete_file", "fs"),
        ] {
            let own = own_names(name, &[server]);
            assert!(
                own.iter().all(|own| own != "delete_file"),
                "{name}: {own:?}"
            );
        }
    }
}
