//! Which modules of a crate import each other in a circle. A module and those that stand in it are one
//! room.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;

use crate::sources::{Module, Use};

/// The circles of a crate: each the modules that import one another, by their paths. A re-export hands a
/// name on: who imports it imports the module that defines it.
pub(crate) fn find_circles(modules: &[Module]) -> Vec<Vec<String>> {
    let imports: Vec<BTreeSet<usize>> = (0..modules.len())
        .map(|module| imports(modules, module))
        .collect();
    let reached: Vec<BTreeSet<usize>> = (0..modules.len())
        .map(|module| reachable(&imports, module))
        .collect();
    let mut circles: BTreeSet<BTreeSet<usize>> = BTreeSet::new();
    for module in 0..modules.len() {
        let circle: BTreeSet<usize> = reached[module]
            .iter()
            .copied()
            .filter(|other| reached[*other].contains(&module))
            .collect();
        if !circle.is_empty() {
            circles.insert(circle);
        }
    }
    let path = |module: &usize| modules[*module].path.clone();
    circles
        .iter()
        .map(|circle| circle.iter().map(path).collect())
        .collect()
}

fn reachable(imports: &[BTreeSet<usize>], from: usize) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut left: Vec<usize> = imports[from].iter().copied().collect();
    while let Some(module) = left.pop() {
        if reached.insert(module) {
            left.extend(&imports[module]);
        }
    }
    reached
}

/// The modules whose items a module names.
fn imports(modules: &[Module], module: usize) -> BTreeSet<usize> {
    let here = &modules[module];
    let private = here.uses.iter().filter(|brought| !brought.hands_on);
    let mut paths: Vec<Vec<String>> = private.map(|brought| brought.path.clone()).collect();
    for item in &here.items {
        collect_paths(item.to_token_stream(), &mut paths);
    }
    let found = paths
        .iter()
        .filter_map(|path| defining_module(modules, module, path, 0));
    let within = |inner: &str, outer: &str| {
        let rest = inner.strip_prefix(outer);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    let apart = |other: &usize| {
        let (one, other) = (&here.path, &modules[*other].path);
        !within(one, other) && !within(other, one)
    };
    found.filter(apart).collect()
}

/// The paths that stand in some code.
fn collect_paths(code: TokenStream, paths: &mut Vec<Vec<String>>) {
    let mut path: Vec<String> = Vec::new();
    let mut colons = 0;
    for token in code {
        match token {
            TokenTree::Ident(name) => {
                if colons != 2 {
                    paths.push(std::mem::take(&mut path));
                }
                path.push(name.to_string());
                colons = 0;
            }
            TokenTree::Punct(sign) if sign.as_char() == ':' => colons += 1,
            TokenTree::Group(group) => {
                collect_paths(group.stream(), paths);
                paths.push(std::mem::take(&mut path));
                colons = 0;
            }
            _ => {
                paths.push(std::mem::take(&mut path));
                colons = 0;
            }
        }
    }
    paths.push(path);
    paths.retain(|path| path.len() > 1);
}

/// The module that defines what a path names from a module; nothing where that is another crate's.
fn defining_module(
    modules: &[Module],
    from: usize,
    path: &[String],
    depth: usize,
) -> Option<usize> {
    let (mut at, mut rest) = match path.first()?.as_str() {
        "crate" => (0, &path[1..]),
        "self" => (from, &path[1..]),
        "super" => (modules[from].parent?, &path[1..]),
        name => (modules[from].modules.get(name)?.0, &path[1..]),
    };
    while let Some(name) = rest.first() {
        if name == "super" {
            at = modules[at].parent?;
        } else if let Some((inner, _)) = modules[at].modules.get(name) {
            at = *inner;
        } else {
            let brings = |brought: &&Use| brought.name.as_ref() == Some(name);
            return match modules[at].uses.iter().find(brings) {
                Some(handed) if depth < 8 => defining_module(modules, at, &handed.path, depth + 1),
                _ => Some(at),
            };
        }
        rest = &rest[1..];
    }
    Some(at)
}
