//! Reading `expect:` lists.

use super::fields::{Fields, Problems, did_you_mean};
use super::schema;
use crate::model::{Assertion, Matcher, MatcherKind, Target};
use crate::{Diagnostic, Entry, Node, NodeValue, Span, Spanned};

/// An assertion as it was read, and the model-based matcher in it, if there is one.
pub(crate) enum Read {
    /// It can be judged.
    Judged(Box<Assertion>),
    /// It needs a model: the matcher's key and place.
    NeedsModel(Spanned<String>),
}

/// Reads the list; what is malformed is noted and left out.
pub(crate) fn list(node: &Node, problems: &mut Problems) -> Vec<Read> {
    let items = problems.items(node, "assertions").unwrap_or_default();
    items
        .iter()
        .flat_map(|item| assertion(item, problems))
        .collect()
}

/// Reads a gate's list, where a matcher that needs a model is a problem.
pub(crate) fn gate_list(node: &Node, problems: &mut Problems) -> Vec<Assertion> {
    let mut assertions = Vec::new();
    for read in list(node, problems) {
        match read {
            Read::Judged(assertion) => assertions.push(*assertion),
            Read::NeedsModel(matcher) => problems.push(
                Diagnostic::at(
                    matcher.span,
                    format!("`{}` needs a model and cannot decide a gate", matcher.value),
                )
                .note("gates are deterministic: the same recording always gives the same verdict")
                .help("use a deterministic matcher, e.g. `schema: { minimum: 0.5 }`"),
            ),
        }
    }
    assertions
}

/// An assertion, and beside it the matcher of it that needs a model: what stands beside that one
/// under `allOf` is judged all the same.
fn assertion(node: &Node, problems: &mut Problems) -> Vec<Read> {
    if node.entries().is_none() {
        problems.push(
            Diagnostic::at(
                node.span,
                format!("expected an assertion, found {}", node.found()),
            )
            .help("write `{ target: …, matcher: { … } }`"),
        );
        return Vec::new();
    }
    let Some(mut fields) = Fields::open(node, "an assertion", problems) else {
        return Vec::new();
    };
    let target = fields.required("target", problems);
    let matcher = fields.required("matcher", problems);
    let message = fields.get("message").and_then(|node| problems.text(node));
    let name = fields.get("name").and_then(|node| problems.words(node));
    for key in ["weight", "threshold"] {
        if let Some(entry) = fields.entry(key) {
            problems.push(
                Diagnostic::at(
                    entry.key_span,
                    format!("`{key}` scoring is not supported here yet"),
                )
                .help("remove it: every assertion must hold"),
            );
        }
    }
    fields.finish(problems);
    let target = target.and_then(|node| read_target(node, problems));
    let mut needs_model = None;
    let matcher = matcher.and_then(|node| read_matcher(node, problems, &mut needs_model));
    let judged = target.zip(matcher).map(|(target, matcher)| {
        Read::Judged(Box::new(Assertion {
            target,
            matcher,
            message,
            name,
        }))
    });
    judged
        .into_iter()
        .chain(needs_model.map(Read::NeedsModel))
        .collect()
}

/// Reads a target path; a mistake is pointed at inside the path.
pub(crate) fn read_target(node: &Node, problems: &mut Problems) -> Option<Target> {
    let text = problems.text(node)?;
    let error = match Target::parse(&text, node.span) {
        Ok(target) => return Some(target),
        Err(error) => error,
    };
    // A plain scalar stands in the file as it reads, so the place inside it is known.
    let plain = node.span.end - node.span.start == text.len() && node.defined.is_none();
    let at = node.span.start + error.at;
    let span = if plain && error.at < text.len() {
        Span::new(at, at)
    } else {
        node.span
    };
    problems.push(
        Diagnostic::new(format!("`{text}` is not a target path"))
            .label(span, error.message)
            .help("a path looks like `tool_calls[0].args.city`, `tool_calls[*].name` or `tool_calls.length`"),
    );
    None
}

fn read_matcher(
    node: &Node,
    problems: &mut Problems,
    needs_model: &mut Option<Spanned<String>>,
) -> Option<Matcher> {
    // A matcher without options may be written as one word.
    if let NodeValue::Text(word) = &node.value {
        let empty = Node {
            value: NodeValue::Null,
            span: node.span,
            defined: None,
        };
        if ["is-json", "is-valid-tools-call", "snapshot"].contains(&word.as_str()) {
            return kind(word, &empty, problems, needs_model).map(|kind| Matcher {
                kind,
                span: node.span,
            });
        }
    }
    let Some(entries) = node.entries() else {
        let known = node.text().filter(|word| MatcherKind::NAMES.contains(word));
        let name = known.unwrap_or("exact");
        problems.push(
            Diagnostic::at(
                node.span,
                format!("expected a matcher, found {}", node.found()),
            )
            .help(format!(
                "write it with what it asks for, e.g. `{{ {name}: … }}`"
            )),
        );
        return None;
    };
    let [entry] = entries else {
        problems.push(wrong_count(node, entries));
        return None;
    };
    if MatcherKind::NEED_A_MODEL.contains(&entry.key.as_str()) {
        *needs_model = Some(Spanned::new(entry.key.clone(), entry.key_span));
        return None;
    }
    if !MatcherKind::NAMES.contains(&entry.key.as_str()) {
        let problem = Diagnostic::at(entry.key_span, format!("unknown matcher `{}`", entry.key));
        problems.push(did_you_mean(
            problem,
            &entry.key,
            MatcherKind::NAMES.into_iter(),
            "matchers",
        ));
        return None;
    }
    let kind = kind(&entry.key, &entry.value, problems, needs_model)?;
    Some(Matcher {
        kind,
        span: entry.key_span,
    })
}

fn wrong_count(node: &Node, entries: &[Entry]) -> Diagnostic {
    match entries {
        [] => Diagnostic::at(node.span, "expected a matcher, found an empty mapping")
            .help("write one, e.g. `{ exact: 1 }`"),
        [first, second, ..] => Diagnostic::new("a matcher has one key")
            .label(second.key_span, "a second key")
            .also(first.key_span, "the matcher")
            .help("join several matchers with `allOf: [{ … }, { … }]`"),
        [only] => Diagnostic::at(only.key_span, "a matcher has one key"),
    }
}

fn kind(
    name: &str,
    node: &Node,
    problems: &mut Problems,
    needs_model: &mut Option<Spanned<String>>,
) -> Option<MatcherKind> {
    let values = |node: &Node, problems: &mut Problems| {
        let items = problems.items(node, "values")?;
        Some(items.iter().map(Node::to_json).collect::<Vec<_>>())
    };
    let mut matchers = |node: &Node, problems: &mut Problems| {
        let items = problems.items(node, "matchers")?;
        let read: Vec<_> = items
            .iter()
            .map(|item| read_matcher(item, problems, needs_model))
            .collect();
        read.into_iter().collect::<Option<Vec<_>>>()
    };
    Some(match name {
        "exact" => MatcherKind::Exact(node.to_json()),
        "contains" => MatcherKind::Contains(node.to_json()),
        "subset" => MatcherKind::Subset(node.to_json()),
        "regex" => MatcherKind::Regex(Spanned::new(problems.text(node)?, node.span)),
        "schema" => MatcherKind::Schema(schema::read(node, problems)?),
        "snapshot" => MatcherKind::Snapshot(snapshot_name(node, problems)?),
        "contains-all" => MatcherKind::ContainsAll(values(node, problems)?),
        "contains-any" => MatcherKind::ContainsAny(values(node, problems)?),
        "icontains" => MatcherKind::Icontains(problems.text(node)?),
        "starts-with" => MatcherKind::StartsWith(problems.text(node)?),
        "is-json" => MatcherKind::IsJson(schema::read_optional(node, "`is-json`", problems)?),
        "is-valid-tools-call" => MatcherKind::IsValidToolsCall(schema::read_optional(
            node,
            "`is-valid-tools-call`",
            problems,
        )?),
        "levenshtein" => levenshtein(node, problems)?,
        "allOf" => MatcherKind::AllOf(all_of(node, problems, needs_model)?),
        "anyOf" => MatcherKind::AnyOf(matchers(node, problems)?),
        "oneOf" => MatcherKind::OneOf(matchers(node, problems)?),
        // The caller has checked the name, so `not` is what is left.
        _ => MatcherKind::Not(Box::new(read_matcher(node, problems, needs_model)?)),
    })
}

/// The matchers that can be judged; nothing where none is left.
fn all_of(
    node: &Node,
    problems: &mut Problems,
    needs_model: &mut Option<Spanned<String>>,
) -> Option<Vec<Matcher>> {
    let mut matchers = Vec::new();
    for item in problems.items(node, "matchers")? {
        let mut of_item = None;
        let read = read_matcher(item, problems, &mut of_item);
        match (read, of_item) {
            (Some(matcher), None) => matchers.push(matcher),
            (read, Some(needs)) => {
                needs_model.get_or_insert(needs);
                matchers.extend(read);
            }
            (None, None) => return None,
        }
    }
    (!matchers.is_empty()).then_some(matchers)
}

fn snapshot_name(node: &Node, problems: &mut Problems) -> Option<Option<Spanned<String>>> {
    match &node.value {
        NodeValue::Null | NodeValue::Bool(true) => Some(None),
        NodeValue::Map(entries) if entries.is_empty() => Some(None),
        NodeValue::Text(_) => problems.words(node).map(Some),
        _ => {
            problems.expected("a name for the snapshot, or `{}`", node);
            None
        }
    }
}

fn levenshtein(node: &Node, problems: &mut Problems) -> Option<MatcherKind> {
    let mut fields = Fields::open(node, "`levenshtein`", problems)?;
    let value = fields
        .required("value", problems)
        .and_then(|node| problems.text(node));
    let max = fields
        .required("max", problems)
        .and_then(|node| problems.count(node, 0));
    fields.finish(problems);
    Some(MatcherKind::Levenshtein {
        value: value?,
        max: max?.value,
    })
}
