//! The keys of a gate's block. A key says once what may stand there, where it goes in the options, and what it
//! means: reading, the schema for editors, defaults and limits are made of that.

use mcptest_suite::{Node, Spanned};
use serde_json::{Map, Value, json};

use super::block::Block;
use super::field::Field;
use super::limit::Limit;
use crate::eval::ToolPattern;

/// Options that are read key by key: those of a gate, or a mapping below them.
pub(crate) trait Keyed: Sized + 'static {
    /// Its keys; `expect` is no option.
    const KEYS: &'static [Key<Self>];

    /// The options where no key is written: the defaults.
    fn default_options() -> Self;

    /// Notes what is wrong with the keys together. Whether they make options is the answer; `whole` says
    /// whether each of them could be read.
    fn check(&mut self, _block: &mut Block<'_, '_>, whole: bool) -> bool {
        whole
    }
}

/// A key of options `O`.
pub(crate) struct Key<O: 'static> {
    pub(super) name: &'static str,
    takes: ValueKind<O>,
    /// Whether it must be there.
    required: bool,
    /// The key that may stand in its place.
    unless: Option<&'static str>,
    says: &'static str,
    role: Option<Role>,
    /// What is said where a limit of a number meets a run that does not have that number.
    without: &'static str,
}

/// What an option is to who reads suites and judges nothing.
///
/// A closed set: whoever matches on it need not expect another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A limit of this target.
    LimitOf(&'static str),
    /// Tools that the agent has, by name. A gate that names one that no recording lists fails.
    Tools,
    /// Tools that it is to call, or not to, by name or pattern. A gate that names one that no recording lists fails.
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

/// Where a value goes in the options.
type At<O, T> = fn(&mut O) -> &mut dyn Field<T>;

/// The kind of value that a key takes, and where the value goes.
enum ValueKind<O: 'static> {
    Flag(At<O, bool>),
    /// A whole number of at least so much.
    Count(u64, At<O, u64>),
    Number(Range, At<O, f64>),
    Text(At<O, String>),
    /// A list of texts, called so in messages; empty only where that may be.
    Texts {
        of: &'static str,
        may_be_empty: bool,
        at: At<O, Vec<String>>,
    },
    /// A list of tool patterns, called so in messages: each a text, or a mapping of [`ToolOfServer`].
    Tools(&'static str, At<O, Vec<ToolPattern>>),
    /// Anything else.
    Form(&'static dyn Form<O>),
}

/// A value that is read and shown its own way.
pub(crate) trait Form<O> {
    /// What an editor is told.
    fn schema(&self) -> Value;

    /// Reads a node into the options; false where that cannot be.
    fn read(&self, block: &mut Block<'_, '_>, node: &Node, options: &mut O) -> bool;

    /// What is meant where nothing stands.
    fn default_value(&self, _usual: &mut O) -> Option<Value> {
        None
    }

    /// The keys below it that are more to others than to the gate.
    fn options(&self, _path: &[&'static str]) -> Vec<OptionInfo> {
        Vec::new()
    }
}

/// Which numbers may stand there.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Range {
    Above0,
    UpTo(f64),
    AtLeast0,
    Any,
}

impl<O> Key<O> {
    const fn new(name: &'static str, takes: ValueKind<O>) -> Self {
        Self {
            name,
            takes,
            required: false,
            unless: None,
            says: "",
            role: None,
            without: "none recorded, so nothing was judged",
        }
    }

    pub(super) const fn flag(name: &'static str, at: At<O, bool>) -> Self {
        Self::new(name, ValueKind::Flag(at))
    }

    pub(super) const fn count(name: &'static str, least: u64, at: At<O, u64>) -> Self {
        Self::new(name, ValueKind::Count(least, at))
    }

    pub(super) const fn number(name: &'static str, range: Range, at: At<O, f64>) -> Self {
        Self::new(name, ValueKind::Number(range, at))
    }

    /// A number, be it below 0 or not.
    pub(super) const fn any_number(name: &'static str, at: At<O, f64>) -> Self {
        Self::number(name, Range::Any, at)
    }

    pub(super) const fn text(name: &'static str, at: At<O, String>) -> Self {
        Self::new(name, ValueKind::Text(at))
    }

    /// A list of texts, which may be empty; `of` is what messages call them.
    pub(super) const fn texts(
        name: &'static str,
        of: &'static str,
        at: At<O, Vec<String>>,
    ) -> Self {
        let may_be_empty = true;
        Self::new(
            name,
            ValueKind::Texts {
                of,
                may_be_empty,
                at,
            },
        )
    }

    /// A list of one text or more; `of` is what messages call them.
    pub(super) const fn nonempty_texts(
        name: &'static str,
        of: &'static str,
        at: At<O, Vec<String>>,
    ) -> Self {
        let may_be_empty = false;
        Self::new(
            name,
            ValueKind::Texts {
                of,
                may_be_empty,
                at,
            },
        )
    }

    pub(super) const fn tools(
        name: &'static str,
        of: &'static str,
        at: At<O, Vec<ToolPattern>>,
    ) -> Self {
        Self::new(name, ValueKind::Tools(of, at)).with_role(Role::PlannedTools)
    }

    /// What has a form of its own.
    pub(super) const fn form(name: &'static str, form: &'static dyn Form<O>) -> Self {
        Self::new(name, ValueKind::Form(form))
    }

    /// Sets the description of the key for editors.
    pub(super) const fn says(mut self, says: &'static str) -> Self {
        self.says = says;
        self
    }

    /// Makes the key required.
    pub(super) const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Makes the key required unless another key is there.
    pub(super) const fn required_unless(mut self, other: &Self) -> Self {
        self.unless = Some(other.name);
        self.required()
    }

    /// Sets what the key is to those that read suites and judge nothing.
    pub(super) const fn with_role(mut self, role: Role) -> Self {
        self.role = Some(role);
        self
    }

    /// Declares that the key is the most that a target may be. A gate that judges one run at a time breaks where
    /// the run has more of it, or does not have it at all.
    pub(super) const fn limits_target(self, target: &'static str) -> Self {
        self.with_role(Role::LimitOf(target))
    }

    /// Sets the words for a run that does not have the number that the key limits.
    pub(super) const fn missing_as(mut self, found: &'static str) -> Self {
        self.without = found;
        self
    }

    /// The key that must be there.
    pub(super) fn is_required(&self) -> bool {
        self.required
    }

    /// Reads what stands at the key into the options; false where that cannot be.
    pub(super) fn read(&self, block: &mut Block<'_, '_>, options: &mut O) -> bool {
        let in_its_place = self.unless.is_some_and(|other| block.has_name(other));
        let node = if self.required && !in_its_place {
            block.required(self.name)
        } else {
            block.get(self.name)
        };
        match node {
            Some(node) => self.read_node(block, node, options),
            None => !self.required || in_its_place,
        }
    }

    fn read_node(&self, block: &mut Block<'_, '_>, node: &Node, options: &mut O) -> bool {
        // Tool patterns are noted where they are read.
        let names_tools = matches!(self.role, Some(Role::Tools | Role::PlannedTools));
        if names_tools && !matches!(self.takes, ValueKind::Tools(..)) {
            block.note_tools(node);
        }
        let problems = &mut *block.problems;
        match &self.takes {
            ValueKind::Flag(at) => set_field(at(options), problems.flag(node)),
            ValueKind::Count(least, at) => {
                let count = problems.count(node, *least).map(|count| count.value);
                self.limit(block, count);
                set_field(at(options), count)
            }
            ValueKind::Number(range, at) => {
                let number = match range {
                    Range::Above0 => problems.positive(node),
                    Range::UpTo(most) => problems.number(node, 0.0, *most),
                    Range::AtLeast0 => problems.number(node, 0.0, f64::INFINITY),
                    Range::Any => problems.any_number(node),
                };
                self.limit(block, number);
                set_field(at(options), number)
            }
            ValueKind::Text(at) => set_field(
                at(options),
                problems.non_blank_text(node).map(|text| text.value),
            ),
            ValueKind::Texts {
                of,
                may_be_empty,
                at,
            } => {
                let texts = if *may_be_empty {
                    problems.any_texts(node, of)
                } else {
                    problems.texts(node, of)
                };
                let texts: Vec<String> = texts.into_iter().map(|text| text.value).collect();
                let read = *may_be_empty || !texts.is_empty();
                set_field(at(options), Some(texts)) && read
            }
            ValueKind::Tools(of, at) => {
                let tools = block.tool_patterns(node, of);
                let tools = tools.into_iter().map(|tool: Spanned<_>| tool.value);
                set_field(at(options), Some(tools.collect()))
            }
            ValueKind::Form(form) => form.read(block, node, options),
        }
    }

    /// Notes a stated limit of a target.
    fn limit(&self, block: &mut Block<'_, '_>, most: Option<impl Into<Value>>) {
        if let (Some(Role::LimitOf(target)), Some(most)) = (self.role, most) {
            block.limits.push(Limit {
                key: self.name,
                target,
                most: most.into(),
                without: self.without,
            });
        }
    }
}

/// Puts a value where there is one.
fn set_field<T>(field: &mut dyn Field<T>, value: Option<T>) -> bool {
    let read = value.is_some();
    if let Some(value) = value {
        field.set(value);
    }
    read
}

impl<O: Keyed> Key<O> {
    /// What an editor is told of it.
    fn schema(&self) -> Value {
        let mut usual = O::default_options();
        let (mut schema, default) = match &self.takes {
            ValueKind::Flag(at) => (
                or_variable(&json!({ "type": "boolean" })),
                at(&mut usual).default_value(),
            ),
            ValueKind::Count(least, at) => (
                or_variable(&json!({ "type": "integer", "minimum": least })),
                at(&mut usual).default_value(),
            ),
            ValueKind::Number(range, at) => {
                (or_variable(&range.schema()), at(&mut usual).default_value())
            }
            ValueKind::Text(_) => (json!({ "type": ["string", "number"] }), None),
            ValueKind::Texts { may_be_empty, .. } => {
                let mut list = json!({
                    "type": "array", "items": { "type": ["string", "number"] },
                });
                if !may_be_empty {
                    list["minItems"] = 1.into();
                }
                (list, None)
            }
            ValueKind::Tools(..) => {
                let one = mapping_schema::<ToolOfServer>();
                let list = json!({
                    "type": "array",
                    "minItems": 1,
                    "items": { "anyOf": [{ "type": ["string", "number"] }, one] },
                });
                (list, None)
            }
            ValueKind::Form(form) => (form.schema(), form.default_value(&mut usual)),
        };
        schema["description"] = self.says.into();
        if let Some(default) = default.filter(|_| !self.required) {
            schema["default"] = default;
        }
        schema
    }
}

/// A tool pattern that is of one server.
#[derive(Default)]
pub(super) struct ToolOfServer {
    pub(super) name: String,
    pub(super) server: String,
}

impl Keyed for ToolOfServer {
    const KEYS: &'static [Key<Self>] = &[
        Key::text("name", |tool: &mut Self| &mut tool.name)
            .says("The tool's name. It may be a pattern: `*` stands for any characters.")
            .required(),
        Key::text("server", |tool: &mut Self| &mut tool.server)
            .says("The server that offers the tool.")
            .required(),
    ];

    fn default_options() -> Self {
        Self::default()
    }
}

impl Range {
    fn schema(self) -> Value {
        match self {
            Self::Above0 => json!({ "type": "number", "exclusiveMinimum": 0 }),
            Self::UpTo(most) => {
                json!({ "type": "number", "minimum": 0, "maximum": bound_json(most) })
            }
            Self::AtLeast0 => json!({ "type": "number", "minimum": 0 }),
            Self::Any => json!({ "type": "number" }),
        }
    }
}

/// A bound as JSON, as people write it: without a fraction where there is none.
fn bound_json(bound: f64) -> Value {
    serde_json::from_str(&bound.to_string()).unwrap_or_default()
}

/// What an editor is told of a mapping of options.
pub(super) fn mapping_schema<O: Keyed>() -> Value {
    let properties = O::KEYS
        .iter()
        .map(|key| (key.name.to_owned(), key.schema()));
    let properties: Map<String, Value> = properties.collect();
    let required = O::KEYS.iter().filter(|key| key.required);
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

/// The options that have a role: of these keys, and of the keys below them.
pub(super) fn options_with_roles<O: Keyed>(above: &[&'static str]) -> Vec<OptionInfo> {
    let mut found = Vec::new();
    for key in O::KEYS {
        let path = [above, &[key.name]].concat();
        if let ValueKind::Form(form) = &key.takes {
            found.extend(form.options(&path));
        }
        found.extend(key.role.map(|role| OptionInfo { path, role }));
    }
    found
}

/// A variable may stand in the place of a number or a flag.
pub(super) fn or_variable(schema: &Value) -> Value {
    json!({ "anyOf": [schema, { "type": "string", "pattern": "\\$\\{" }] })
}
