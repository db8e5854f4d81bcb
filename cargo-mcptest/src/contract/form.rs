//! A tool as a recording lists it: all of it, its arguments in a line, or its name alone.

use mcptest_trace::record::fingerprint;
use mcptest_trace::trace::{OfferedTool, canonical_json};
use serde_json::{Map, Value};

use super::server::LiveTool;

/// What a recording says of a tool that was offered. What it does not say is `None`.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ToolForm {
    pub(super) description: Option<String>,
    pub(super) schema: Option<Value>,
    /// The arguments of its line.
    line: Option<Vec<Argument>>,
    /// Of its description and its schema.
    digest: Option<String>,
    read_only: Option<bool>,
    annotations: Option<Map<String, Value>>,
}

/// An argument of a tool.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Argument {
    pub(super) name: String,
    pub(super) is_required: bool,
    /// The type, where it is one.
    pub(super) kind: Option<String>,
}

impl ToolForm {
    /// The server, the name and the rest of an entry of a recording's `tools`.
    pub(super) fn read(tool: &Value) -> Option<(String, String, Self)> {
        let text = |key: &str| tool[key].as_str().map(str::to_owned);
        let line = tool.as_str().map(str::to_owned).or_else(|| text("line"));
        let of_line = line.as_deref().map(OfferedTool::from_line);
        let name = text("name").or_else(|| of_line.as_ref().map(|it| it.name.clone()))?;
        let server = text("server").or_else(|| of_line?.server);
        let form = Self {
            description: text("description"),
            schema: tool
                .get("input_schema")
                .filter(|it| it.is_object())
                .cloned(),
            line: line.as_deref().and_then(parse_line_arguments),
            digest: line.as_deref().and_then(parse_line_digest),
            read_only: tool["read_only"].as_bool(),
            annotations: tool["annotations"].as_object().cloned(),
        };
        Some((server.unwrap_or_default(), name, form))
    }

    /// The arguments that it had.
    pub(super) fn arguments(&self) -> Option<Vec<Argument>> {
        let of_schema = self.schema.as_ref().map(parse_schema_arguments);
        of_schema.or_else(|| self.line.clone())
    }

    /// Whether it is known that nothing of the description and the schema changed, or that something did.
    pub(super) fn is_same(&self, live: &LiveTool) -> Option<bool> {
        let digest = self.digest.as_ref()?;
        let text = format!("{}\n{}", live.description, canonical_json(&live.schema));
        Some(fingerprint(&text).starts_with(digest.as_str()))
    }

    /// What changed of the annotations: the key, and what it was and is.
    pub(super) fn annotation_changes(
        &self,
        live: &LiveTool,
    ) -> Vec<(String, Option<Value>, Option<Value>)> {
        let Some(recorded) = &self.annotations else {
            let hint = "readOnlyHint";
            let now = live.annotations.get(hint);
            let before = self.read_only.map(Value::Bool);
            let differs = before.is_some() && before.as_ref() != now;
            return Vec::from_iter(differs.then(|| (hint.to_owned(), before, now.cloned())));
        };
        let mut keys: Vec<&String> = recorded.keys().chain(live.annotations.keys()).collect();
        keys.sort();
        keys.dedup();
        let values = |key: &String| (recorded.get(key), live.annotations.get(key));
        let keys = keys
            .into_iter()
            .filter(|key| values(key).0 != values(key).1);
        keys.map(|key| (key.clone(), values(key).0.cloned(), values(key).1.cloned()))
            .collect()
    }

    /// Whether it says what arguments the tool takes.
    pub(super) fn says_arguments(&self) -> bool {
        self.schema.is_some() || self.line.is_some()
    }

    /// Whether other annotations would be seen.
    pub(super) fn says_annotations(&self) -> bool {
        self.annotations.is_some()
    }

    /// Whether another description would be seen.
    pub(super) fn says_description(&self) -> bool {
        self.description.is_some() || self.digest.is_some()
    }
}

/// The arguments that a schema names, by name.
pub(super) fn parse_schema_arguments(schema: &Value) -> Vec<Argument> {
    let required = schema["required"].as_array();
    let required: Vec<&str> = required
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = schema["properties"].as_object().into_iter().flatten();
    let mut arguments: Vec<Argument> = properties
        .map(|(name, schema)| Argument {
            name: name.clone(),
            is_required: required.contains(&name.as_str()),
            kind: schema["type"].as_str().map(str::to_owned),
        })
        .collect();
    // A name may be required without a schema of its own.
    for name in required {
        if arguments.iter().all(|argument| argument.name != name) {
            arguments.push(Argument {
                name: name.to_owned(),
                is_required: true,
                kind: None,
            });
        }
    }
    arguments.sort();
    arguments
}

/// The arguments of a line, as `desk::find(id: string, deep?: object) #3a35a844`.
fn parse_line_arguments(line: &str) -> Option<Vec<Argument>> {
    let (_, rest) = line.split_once('(')?;
    let (inside, _) = rest.rsplit_once(')')?;
    let parts = inside.split(", ").filter(|part| !part.is_empty());
    let argument = |part: &str| {
        let (name, kind) = match part.split_once(": ") {
            Some((name, kind)) => (name, Some(kind.to_owned())),
            None => (part, None),
        };
        let optional = name.strip_suffix('?');
        Argument {
            name: optional.unwrap_or(name).to_owned(),
            is_required: optional.is_none(),
            kind,
        }
    };
    let mut arguments: Vec<Argument> = parts.map(argument).collect();
    arguments.sort();
    Some(arguments)
}

/// The digest at the end of a line.
fn parse_line_digest(line: &str) -> Option<String> {
    let (_, digest) = line.rsplit_once(" #")?;
    let is_digest = digest.len() == 8 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_digest.then(|| digest.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn argument(name: &str, is_required: bool, kind: Option<&str>) -> Argument {
        Argument {
            name: name.to_owned(),
            is_required,
            kind: kind.map(str::to_owned),
        }
    }

    #[test]
    fn every_form_of_a_recording_is_read() {
        let read = |tool: Value| ToolForm::read(&tool).unwrap();
        let (server, name, form) = read(json!("desk::find(id: string, deep?) #3a35a844"));
        assert_eq!((server.as_str(), name.as_str()), ("desk", "find"));
        let arguments = [
            argument("deep", false, None),
            argument("id", true, Some("string")),
        ];
        assert_eq!(form.arguments().unwrap(), arguments);
        assert_eq!(form.digest.as_deref(), Some("3a35a844"));
        let (_, name, form) = read(json!("find"));
        assert_eq!((name.as_str(), form.says_arguments()), ("find", false));
        let (_, _, form) = read(json!("list()"));
        assert_eq!(form.arguments().unwrap(), []);
        let object = json!({ "name": "find", "server": "desk", "description": "Finds.", "read_only": true,
            "input_schema": { "properties": { "id": { "type": "string" } }, "required": ["id", "by"] } });
        let (server, _, form) = read(object);
        assert_eq!(server, "desk");
        let arguments = [
            argument("by", true, None),
            argument("id", true, Some("string")),
        ];
        assert_eq!(form.arguments().unwrap(), arguments);
        assert_eq!(ToolForm::read(&json!({ "server": "desk" })), None);
    }

    #[test]
    fn a_digest_tells_whether_anything_changed() {
        let live = LiveTool {
            name: "find".to_owned(),
            description: "Finds.".to_owned(),
            schema: json!({ "type": "object" }),
            ..LiveTool::default()
        };
        let digest = fingerprint("Finds.\n{\"type\":\"object\"}");
        let form = |line: String| ToolForm::read(&line.into()).unwrap().2;
        let same = form(format!("desk::find() #{}", &digest[..8]));
        assert_eq!(same.is_same(&live), Some(true));
        assert_eq!(
            form("desk::find() #00000000".to_owned()).is_same(&live),
            Some(false)
        );
        assert_eq!(form("desk::find()".to_owned()).is_same(&live), None);
    }

    #[test]
    fn annotations_are_compared_as_far_as_they_were_recorded() {
        let mut live = LiveTool::default();
        let form = |tool: Value| ToolForm::read(&tool).unwrap().2;
        let unknown = form(json!({ "name": "a" }));
        let reads = form(json!({ "name": "a", "read_only": true }));
        let all =
            form(json!({ "name": "a", "annotations": { "title": "A", "readOnlyHint": true } }));
        assert_eq!(unknown.annotation_changes(&live), []);
        assert_eq!(reads.annotation_changes(&live).len(), 1);
        live.annotations
            .insert("readOnlyHint".to_owned(), true.into());
        assert_eq!(reads.annotation_changes(&live), []);
        let title = ("title".to_owned(), Some("A".into()), None);
        assert_eq!(all.annotation_changes(&live), [title]);
    }
}
