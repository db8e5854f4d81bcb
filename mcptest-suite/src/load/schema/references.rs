//! Where the references of a JSON Schema lead: to a schema inside it, and not in a circle.

use std::collections::HashMap;

use super::keywords::{keyword, subschemas};
use crate::load::problems::{Problems, did_you_mean};
use crate::{Diagnostic, Node, NodeValue, nearest};

/// Keywords below which a schema looks at the same value as the schema around it.
const IN_PLACE: [&str; 9] = [
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentSchemas",
    "dependencies",
];

/// Keywords that refer to another schema.
const REFERENCES: [&str; 2] = ["$ref", "$dynamicRef"];

/// Notes every reference that leads outside, nowhere, to no schema, or back to itself.
pub(super) fn check(root: &Node, problems: &mut Problems) {
    let mut schemas = Schemas::from_root(root);
    let mut steps: Vec<Vec<Edge<'_>>> = Vec::with_capacity(schemas.all.len());
    for at in 0..schemas.all.len() {
        let Schema {
            node: schema,
            resource,
        } = schemas.all[at];
        let mut step = schemas.in_place(schema);
        for key in REFERENCES {
            let Some(node) = schema.get(key) else {
                continue;
            };
            // What is not text is noted where values are looked at.
            let NodeValue::Text(reference) = &node.value else {
                continue;
            };
            match schemas.target(reference, resource) {
                Ok(to) => step.push(Edge {
                    to,
                    reference: Some(node),
                }),
                Err(astray) => {
                    let problem = astray.into_diagnostic(reference, node);
                    problems.push(if resource == 0 {
                        problem
                    } else {
                        problem.note("an `$id` around it makes this part a schema of its own")
                    });
                }
            }
        }
        steps.push(step);
    }
    if let Some(reference) = find_cycle(&steps) {
        problems.push(
            Diagnostic::at(
                reference.span,
                "this reference leads back to itself without looking at any part of the value",
            )
            .help("refer to it from below `properties`, `items` or another keyword that goes into the value"),
        );
    }
}

/// A way from one schema to another that looks at the same value.
struct Edge<'n> {
    to: usize,
    /// The reference that leads there; none where it is written in place.
    reference: Option<&'n Node>,
}

#[derive(Clone, Copy)]
struct Schema<'n> {
    node: &'n Node,
    /// Index of the schema that references inside this one start from.
    resource: usize,
}

/// Every schema of a document, parents first.
pub(in crate::load) struct Schemas<'n> {
    all: Vec<Schema<'n>>,
    index: HashMap<*const Node, usize>,
    anchors: HashMap<(usize, &'n str), usize>,
    /// The entries of each mapping that a reference went through.
    names: HashMap<*const Node, HashMap<&'n str, &'n Node>>,
}

impl<'n> Schemas<'n> {
    pub(in crate::load) fn from_root(root: &'n Node) -> Self {
        let mut found = Self {
            all: Vec::new(),
            index: HashMap::new(),
            anchors: HashMap::new(),
            names: HashMap::new(),
        };
        let mut waiting = vec![(root, 0)];
        while let Some((node, resource)) = waiting.pop() {
            let at = found.all.len();
            let name = |key| node.get(key).and_then(Node::text);
            let id = name("$id").or_else(|| name("id"));
            let starts_anew = id.is_some_and(|id| !id.starts_with('#'));
            let resource = if starts_anew { at } else { resource };
            // Up to draft 7 an `$id` of `#name` is what `$anchor` is later.
            let old_anchor = id.and_then(|id| id.strip_prefix('#'));
            let anchors = [name("$anchor"), name("$dynamicAnchor"), old_anchor];
            for anchor in anchors.into_iter().flatten() {
                found.anchors.insert((resource, anchor), at);
            }
            found.index.insert(std::ptr::from_ref(node), at);
            found.all.push(Schema { node, resource });
            let children = subschemas(node).into_iter().rev();
            waiting.extend(children.map(|(_, child)| (child, resource)));
        }
        found
    }

    /// The schemas that a schema of the document refers to.
    pub(in crate::load) fn references_from(
        &mut self,
        schema: &'n Node,
    ) -> impl Iterator<Item = &'n Node> + use<'n> {
        let at = self.index.get(&std::ptr::from_ref(schema));
        let resource = at.map_or(0, |at| self.all[*at].resource);
        let references = REFERENCES.map(|key| schema.get(key).and_then(Node::text));
        let found = references.map(|reference| self.target(reference?, resource).ok());
        let found = found.map(|at| Some(self.all[at?].node));
        found.into_iter().flatten()
    }

    fn in_place(&self, schema: &'n Node) -> Vec<Edge<'n>> {
        let children = subschemas(schema).into_iter();
        let same_value = children.filter(|(keyword, _)| IN_PLACE.contains(keyword));
        same_value
            .filter_map(|(_, child)| self.index.get(&std::ptr::from_ref(child)))
            .map(|to| Edge {
                to: *to,
                reference: None,
            })
            .collect()
    }

    /// As [`Node::get`]; a mapping of many definitions is indexed, so that many references into it
    /// stay cheap.
    fn get_indexed(&mut self, node: &'n Node, name: &str) -> Option<&'n Node> {
        let names = self
            .names
            .entry(std::ptr::from_ref(node))
            .or_insert_with(|| {
                let entries = node.entries().unwrap_or_default().iter();
                entries
                    .map(|entry| (entry.key.as_str(), &entry.value))
                    .collect()
            });
        names.get(name).copied()
    }

    fn target(
        &mut self,
        reference: &str,
        resource: usize,
    ) -> Result<usize, UnresolvedReference<'n>> {
        let Some(fragment) = reference.strip_prefix('#') else {
            return Err(UnresolvedReference::Outside);
        };
        let fragment = percent_decoded(fragment);
        if !fragment.is_empty() && !fragment.starts_with('/') {
            let known = self.anchors.get(&(resource, fragment.as_str()));
            return known.copied().ok_or_else(|| {
                let anchors = self.anchors.keys();
                let mut anchors: Vec<_> = anchors
                    .filter(|(owner, _)| *owner == resource)
                    .map(|(_, name)| *name)
                    .collect();
                anchors.sort_unstable();
                UnresolvedReference::NoAnchor(fragment, anchors)
            });
        }
        let mut node = self.all[resource].node;
        for step in fragment.split('/').skip(1) {
            let step = step.replace("~1", "/").replace("~0", "~");
            let item = || node.items()?.get(step.parse::<usize>().ok()?);
            node = match self.get_indexed(node, &step).or_else(item) {
                Some(next) => next,
                None => return Err(UnresolvedReference::Nowhere(step, node)),
            };
        }
        let known = self.index.get(&std::ptr::from_ref(node));
        known.copied().ok_or(UnresolvedReference::NoSchema(node))
    }
}

/// Why a reference finds no schema.
enum UnresolvedReference<'n> {
    Outside,
    /// The step that fails, and what is there instead.
    Nowhere(String, &'n Node),
    NoAnchor(String, Vec<&'n str>),
    NoSchema(&'n Node),
}

impl UnresolvedReference<'_> {
    fn into_diagnostic(self, reference: &str, node: &Node) -> Diagnostic {
        let problem = |message: String| Diagnostic::at(node.span, message);
        match self {
            Self::Outside => problem("a `$ref` may only point inside its own schema".to_owned())
                .note("judging reads no other file and no network")
                .help("copy the definition under `$defs` and refer to it as `#/$defs/name`"),
            Self::Nowhere(step, there) => {
                let problem = problem(format!("`{reference}` leads nowhere in this schema"));
                let keys = there.entries().unwrap_or_default().iter();
                // Only what has something below it can be meant.
                let keys = keys.filter(|entry| entry.value.text().is_none());
                let keys = keys.map(|entry| entry.key.as_str());
                let among_keywords = keys.clone().all(|key| keyword(key).is_some());
                if among_keywords && nearest(&step, keys.clone()).is_none() {
                    problem.help("define it under `$defs` and refer to it as `#/$defs/name`")
                } else {
                    did_you_mean(problem, &step, keys, "names there")
                }
            }
            Self::NoAnchor(name, anchors) => {
                let problem = problem(format!("no `$anchor` of this schema is `{name}`"));
                if anchors.is_empty() {
                    problem.help(format!("a path begins with `#/`, e.g. `#/$defs/{name}`"))
                } else {
                    did_you_mean(problem, &name, anchors.into_iter(), "anchors")
                }
            }
            Self::NoSchema(there) => {
                let message = format!("`{reference}` leads to {}, not to a schema", there.kind());
                problem(message)
                    .secondary_label(there.span, "it leads here")
                    .help("refer to a schema, e.g. `#/$defs/name`")
            }
        }
    }
}

/// Finds a reference that is part of a cycle.
fn find_cycle<'n>(steps: &[Vec<Edge<'n>>]) -> Option<&'n Node> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        OnTheWay,
        Done,
    }
    let mut states = vec![State::New; steps.len()];
    for start in 0..steps.len() {
        if states[start] != State::New {
            continue;
        }
        // Each schema on the way, and which of its steps is next. Not by recursion: references
        // can chain as long as the file is.
        let mut way = vec![(start, 0)];
        states[start] = State::OnTheWay;
        while let Some((at, next)) = way.last_mut() {
            let Some(step) = steps[*at].get(*next) else {
                states[*at] = State::Done;
                way.pop();
                continue;
            };
            *next += 1;
            match states[step.to] {
                State::Done => {}
                State::New => {
                    states[step.to] = State::OnTheWay;
                    way.push((step.to, 0));
                }
                State::OnTheWay => {
                    let round = way.iter().skip_while(|(at, _)| *at != step.to);
                    let mut taken = round.map(|(at, next)| &steps[*at][*next - 1]);
                    return taken.find_map(|step| step.reference);
                }
            }
        }
    }
    None
}

/// `%20` and the like in a fragment; what is no such escape stays.
fn percent_decoded(fragment: &str) -> String {
    let bytes = fragment.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escape = fragment.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let byte = escape.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        out.push(byte.unwrap_or(bytes[at]));
        at += if byte.is_some() { 3 } else { 1 };
    }
    String::from_utf8(out).unwrap_or_else(|_| fragment.to_owned())
}
