//! The keys of a gate's block, as data: what may stand there, what is meant where nothing does, and
//! what it says. The schema for editors, and from it the tables of the guide, are made of this.

use serde_json::{Map, Value, json};

/// A key of a gate's block, or of a mapping below it.
#[derive(Debug)]
pub(crate) struct Key {
    pub(super) name: &'static str,
    pub(super) takes: Takes,
    /// Whether it must be there.
    pub(super) required: bool,
    /// The key that may stand in its place.
    pub(super) unless: Option<&'static str>,
    /// What is meant where it is not there.
    usual: Option<&'static str>,
    says: &'static str,
    role: Option<Role>,
}

/// What an option is to who reads suites and judges nothing.
///
/// A closed set: whoever matches on it need not expect another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A limit of this target.
    LimitOf(&'static str),
    /// Tools that the agent has, by name.
    Tools,
    /// Tools that it is to call, or not to, by name or pattern.
    PlannedTools,
}

/// An option that is more to others than to its gate.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OptionInfo {
    /// Its key, after the keys that it stands below; each item of a list is meant.
    pub path: Vec<&'static str>,
    /// What it is.
    pub role: Role,
}

/// What may stand at a key.
#[derive(Debug)]
pub(super) enum Takes {
    Flag,
    /// A whole number of at least so much.
    Count(u64),
    Number(Range),
    /// A list of texts, called so in messages; empty only where that may be.
    Texts {
        of: &'static str,
        may_be_empty: bool,
    },
    /// A list of tool patterns, called so in messages: each a text, or a mapping of [`TOOL`].
    Tools(&'static str),
    /// One of these words.
    Word(&'static [&'static str]),
    /// A mapping, called so in messages.
    Mapping(&'static str, &'static [Key]),
    /// A list of mappings: what the list and each of them is called in messages.
    Each {
        of: &'static str,
        one: &'static str,
        keys: &'static [Key],
    },
    /// Something else: what an editor is told, as a JSON Schema.
    Other(&'static str),
    /// The same, made when it is asked for.
    Made(fn() -> Value),
}

/// Which numbers may stand there.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Range {
    Above0,
    UpTo(f64),
    Above0UpTo(f64),
    AtLeast0,
}

impl Key {
    const fn of(name: &'static str, takes: Takes) -> Self {
        Self {
            name,
            takes,
            required: false,
            unless: None,
            usual: None,
            says: "",
            role: None,
        }
    }

    pub(super) const fn flag(name: &'static str, usual: bool) -> Self {
        Self::maybe(name).usually(if usual { "true" } else { "false" })
    }

    /// Whether something is so, where not saying it is a third answer.
    pub(super) const fn maybe(name: &'static str) -> Self {
        Self::of(name, Takes::Flag)
    }

    pub(super) const fn count(name: &'static str, least: u64) -> Self {
        Self::of(name, Takes::Count(least))
    }

    pub(super) const fn number(name: &'static str, range: Range) -> Self {
        Self::of(name, Takes::Number(range))
    }

    pub(super) const fn text(name: &'static str) -> Self {
        Self::other(name, r#"{ "type": ["string", "number"] }"#)
    }

    pub(super) const fn texts(name: &'static str, of: &'static str, may_be_empty: bool) -> Self {
        Self::of(name, Takes::Texts { of, may_be_empty })
    }

    pub(super) const fn tools(name: &'static str, of: &'static str) -> Self {
        Self::of(name, Takes::Tools(of)).is(Role::PlannedTools)
    }

    pub(super) const fn word(name: &'static str, words: &'static [&'static str]) -> Self {
        Self::of(name, Takes::Word(words))
    }

    /// A mapping; `called` is what messages call it.
    pub(super) const fn mapping(
        name: &'static str,
        called: &'static str,
        keys: &'static [Self],
    ) -> Self {
        Self::of(name, Takes::Mapping(called, keys))
    }

    pub(super) const fn other(name: &'static str, schema: &'static str) -> Self {
        Self::of(name, Takes::Other(schema))
    }

    pub(super) const fn made(name: &'static str, schema: fn() -> Value) -> Self {
        Self::of(name, Takes::Made(schema))
    }

    /// A list of mappings: what messages call the list and one of them, and the keys of that.
    pub(super) const fn each(
        name: &'static str,
        (of, one): (&'static str, &'static str),
        keys: &'static [Self],
    ) -> Self {
        Self::of(name, Takes::Each { of, one, keys })
    }

    /// The same; what an editor is told of it.
    pub(super) const fn says(mut self, says: &'static str) -> Self {
        self.says = says;
        self
    }

    /// The same, which must be there.
    pub(super) const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// The same, which must be there unless another key is.
    pub(super) const fn required_unless(mut self, other: &'static str) -> Self {
        self.unless = Some(other);
        self.required()
    }

    /// The same, which is this where it is not there: JSON, or a word.
    pub(super) const fn usually(mut self, usual: &'static str) -> Self {
        self.usual = Some(usual);
        self
    }

    /// The same, which is this to others.
    pub(super) const fn is(mut self, role: Role) -> Self {
        self.role = Some(role);
        self
    }

    /// What an editor is told of it.
    fn schema(&self) -> Value {
        let mut schema = match &self.takes {
            Takes::Flag => or_variable(&json!({ "type": "boolean" })),
            Takes::Count(least) => or_variable(&json!({ "type": "integer", "minimum": least })),
            Takes::Number(range) => or_variable(&range.schema()),
            Takes::Texts { may_be_empty, .. } => {
                let mut list = json!({
                    "type": "array", "items": { "type": ["string", "number"] },
                });
                if !may_be_empty {
                    list["minItems"] = 1.into();
                }
                list
            }
            Takes::Tools(_) => json!({
                "type": "array",
                "minItems": 1,
                "items": { "anyOf": [{ "type": ["string", "number"] }, schema_of(TOOL)] },
            }),
            Takes::Word(words) => json!({ "enum": words }),
            Takes::Mapping(_, keys) if self.usual.is_some() => {
                json!({ "anyOf": [{ "type": "boolean" }, schema_of(keys)] })
            }
            Takes::Mapping(_, keys) => schema_of(keys),
            Takes::Each { one, keys, .. } => {
                let mut item = schema_of(keys);
                item["description"] = sentence(one).into();
                json!({ "type": "array", "items": item })
            }
            Takes::Made(schema) => schema(),
            Takes::Other(schema) => serde_json::from_str(schema).unwrap_or_default(),
        };
        schema["description"] = self.says.into();
        if let Some(usual) = self.usual {
            schema["default"] = serde_json::from_str(usual).unwrap_or_else(|_| usual.into());
        }
        schema
    }
}

/// The keys of a tool pattern that is of one server.
pub(super) const TOOL: &[Key] = &[
    Key::text("name")
        .says("The tool, or a pattern of tools.")
        .required(),
    Key::text("server")
        .says("The server that the tool is of.")
        .required(),
];

/// A few words as a sentence.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).chain(['.']).collect()
}

/// The words of choices, which stand beside what they mean.
pub(super) const fn words<T, const N: usize>(
    choices: &[(&'static str, T); N],
) -> [&'static str; N] {
    let (mut words, mut place) = ([""; N], 0);
    while place < N {
        words[place] = choices[place].0;
        place += 1;
    }
    words
}

impl Range {
    fn schema(self) -> Value {
        match self {
            Self::Above0 => json!({ "type": "number", "exclusiveMinimum": 0 }),
            Self::UpTo(most) => json!({ "type": "number", "minimum": 0, "maximum": whole(most) }),
            Self::Above0UpTo(most) => {
                json!({ "type": "number", "exclusiveMinimum": 0, "maximum": whole(most) })
            }
            Self::AtLeast0 => json!({ "type": "number", "minimum": 0 }),
        }
    }
}

/// A bound as people write it.
fn whole(bound: f64) -> Value {
    serde_json::from_str(&bound.to_string()).unwrap_or_default()
}

/// A variable may stand in the place of a number or a flag.
fn or_variable(schema: &Value) -> Value {
    json!({ "anyOf": [schema, { "type": "string", "pattern": "\\$\\{" }] })
}

/// What an editor is told of a mapping with some keys.
pub(super) fn schema_of(keys: &[Key]) -> Value {
    let properties = keys.iter().map(|key| (key.name.to_owned(), key.schema()));
    let properties: Map<String, Value> = properties.collect();
    let required = keys.iter().filter(|key| key.required);
    let required = required.filter(|key| key.unless.is_none());
    let required: Vec<&str> = required.map(|key| key.name).collect();
    let mut schema = json!({
        "type": "object", "additionalProperties": false, "properties": properties,
    });
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema
}

/// Those of some keys, and of the keys below them, that have a role.
pub(super) fn options(above: &[&'static str], keys: &[Key]) -> Vec<OptionInfo> {
    let mut found = Vec::new();
    for key in keys {
        let path = [above, &[key.name]].concat();
        if let Takes::Mapping(_, below) | Takes::Each { keys: below, .. } = key.takes {
            found.extend(options(&path, below));
        }
        found.extend(key.role.map(|role| OptionInfo { path, role }));
    }
    found
}
