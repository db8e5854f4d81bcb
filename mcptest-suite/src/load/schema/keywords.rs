//! The keywords of JSON Schema: what each holds, and in which drafts it means something.
//!
//! Source: the meta-schemas of drafts 4, 6, 7, 2019-09 and 2020-12.

use crate::Node;

/// The drafts that can be told from `$schema`, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Draft {
    Four,
    Six,
    Seven,
    Nineteen,
    Twenty,
}

impl Draft {
    /// What `$schema` says for each.
    pub(super) const ALL: [(&'static str, Self); 5] = [
        ("https://json-schema.org/draft/2020-12/schema", Self::Twenty),
        (
            "https://json-schema.org/draft/2019-09/schema",
            Self::Nineteen,
        ),
        ("http://json-schema.org/draft-07/schema", Self::Seven),
        ("http://json-schema.org/draft-06/schema", Self::Six),
        ("http://json-schema.org/draft-04/schema", Self::Four),
    ];

    /// The draft that a `$schema` names.
    pub(super) fn from_uri(uri: &str) -> Option<Self> {
        let uri = uri.strip_suffix('#').unwrap_or(uri);
        let known = Self::ALL.into_iter().find(|(known, _)| *known == uri);
        known.map(|(_, draft)| draft)
    }

    /// The draft of a schema; the newest when it names none, or none that is known.
    pub(super) fn from_schema(schema: &Node) -> Self {
        let uri = schema.get("$schema").and_then(Node::text);
        uri.and_then(Self::from_uri).unwrap_or(Self::Twenty)
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Four => "draft 4",
            Self::Six => "draft 6",
            Self::Seven => "draft 7",
            Self::Nineteen => "2019-09",
            Self::Twenty => "2020-12",
        }
    }
}

/// What a keyword holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// One schema.
    Schema,
    /// One schema; before 2020-12 also a list of them.
    Items,
    /// A list of schemas, not empty.
    Schemas,
    /// Names and their schemas.
    NamedSchemas,
    /// Names, each with a schema or a list of names.
    Dependencies,
    /// Names, each with a list of names.
    NamedTexts,
    /// A type's name, or a list of them.
    Types,
    /// A list of values, not empty.
    Values,
    /// A number.
    Number,
    /// A number; in draft 4 a boolean.
    Exclusive,
    /// A number above 0.
    Positive,
    /// A whole number, 0 or more.
    Count,
    /// A boolean.
    Flag,
    /// Text.
    Text,
    /// The name of a format.
    Format,
    /// The address of a draft.
    Dialect,
    /// A list of texts.
    Texts,
    /// Whatever there is.
    Anything,
}

/// A keyword.
pub(super) struct Keyword {
    pub(super) name: &'static str,
    pub(super) holds: Holds,
    pub(super) since: Draft,
    pub(super) until: Draft,
}

const fn in_drafts(name: &'static str, holds: Holds, since: Draft, until: Draft) -> Keyword {
    Keyword {
        name,
        holds,
        since,
        until,
    }
}

const fn since(since: Draft, name: &'static str, holds: Holds) -> Keyword {
    in_drafts(name, holds, since, Draft::Twenty)
}

const fn always(name: &'static str, holds: Holds) -> Keyword {
    since(Draft::Four, name, holds)
}

/// Every keyword that is known.
pub(super) const KEYWORDS: [Keyword; 61] = [
    always("type", Holds::Types),
    always("enum", Holds::Values),
    since(Draft::Six, "const", Holds::Anything),
    always("properties", Holds::NamedSchemas),
    always("required", Holds::Texts),
    always("additionalProperties", Holds::Schema),
    always("patternProperties", Holds::NamedSchemas),
    since(Draft::Six, "propertyNames", Holds::Schema),
    always("minProperties", Holds::Count),
    always("maxProperties", Holds::Count),
    always("items", Holds::Items),
    since(Draft::Twenty, "prefixItems", Holds::Schemas),
    in_drafts(
        "additionalItems",
        Holds::Schema,
        Draft::Four,
        Draft::Nineteen,
    ),
    since(Draft::Six, "contains", Holds::Schema),
    since(Draft::Nineteen, "minContains", Holds::Count),
    since(Draft::Nineteen, "maxContains", Holds::Count),
    always("minItems", Holds::Count),
    always("maxItems", Holds::Count),
    always("uniqueItems", Holds::Flag),
    always("minLength", Holds::Count),
    always("maxLength", Holds::Count),
    always("pattern", Holds::Text),
    always("format", Holds::Format),
    always("minimum", Holds::Number),
    always("maximum", Holds::Number),
    always("exclusiveMinimum", Holds::Exclusive),
    always("exclusiveMaximum", Holds::Exclusive),
    always("multipleOf", Holds::Positive),
    always("allOf", Holds::Schemas),
    always("anyOf", Holds::Schemas),
    always("oneOf", Holds::Schemas),
    always("not", Holds::Schema),
    since(Draft::Seven, "if", Holds::Schema),
    since(Draft::Seven, "then", Holds::Schema),
    since(Draft::Seven, "else", Holds::Schema),
    since(Draft::Nineteen, "dependentRequired", Holds::NamedTexts),
    since(Draft::Nineteen, "dependentSchemas", Holds::NamedSchemas),
    always("dependencies", Holds::Dependencies),
    since(Draft::Nineteen, "unevaluatedItems", Holds::Schema),
    since(Draft::Nineteen, "unevaluatedProperties", Holds::Schema),
    since(Draft::Seven, "contentEncoding", Holds::Text),
    since(Draft::Seven, "contentMediaType", Holds::Text),
    since(Draft::Nineteen, "contentSchema", Holds::Schema),
    always("$schema", Holds::Dialect),
    since(Draft::Six, "$id", Holds::Text),
    in_drafts("id", Holds::Text, Draft::Four, Draft::Four),
    always("$ref", Holds::Text),
    since(Draft::Nineteen, "$anchor", Holds::Text),
    since(Draft::Twenty, "$dynamicRef", Holds::Text),
    since(Draft::Twenty, "$dynamicAnchor", Holds::Text),
    since(Draft::Nineteen, "$vocabulary", Holds::Anything),
    // Only a place for schemas that a `$ref` finds, so any draft can use either.
    always("$defs", Holds::NamedSchemas),
    always("definitions", Holds::NamedSchemas),
    // Words for readers; they check nothing in any draft.
    always("$comment", Holds::Anything),
    always("title", Holds::Text),
    always("description", Holds::Text),
    always("default", Holds::Anything),
    always("examples", Holds::Anything),
    always("deprecated", Holds::Flag),
    always("readOnly", Holds::Flag),
    always("writeOnly", Holds::Flag),
];

/// The keyword of a name.
pub(super) fn keyword(name: &str) -> Option<&'static Keyword> {
    KEYWORDS.iter().find(|keyword| keyword.name == name)
}

/// The schemas directly below a schema, each with the keyword it stands under.
pub(in crate::load) fn subschemas(schema: &Node) -> Vec<(&'static str, &Node)> {
    let mut found = Vec::new();
    for entry in schema.entries().unwrap_or_default() {
        let Some(keyword) = keyword(&entry.key) else {
            continue;
        };
        let mut add = |node| found.push((keyword.name, node));
        match keyword.holds {
            Holds::Schema => add(&entry.value),
            Holds::Items | Holds::Schemas => match entry.value.items() {
                Some(items) => items.iter().for_each(add),
                None if keyword.holds == Holds::Items => add(&entry.value),
                None => {}
            },
            Holds::NamedSchemas | Holds::Dependencies => {
                let named = entry.value.entries().unwrap_or_default();
                // A list of names is no schema.
                let schemas = named.iter().filter(|entry| entry.value.items().is_none());
                schemas.for_each(|entry| add(&entry.value));
            }
            _ => {}
        }
    }
    found
}
