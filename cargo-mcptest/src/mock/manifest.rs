//! The file of a mock server: its tools as `tools/list` has them, each with its answers.

use std::collections::HashSet;
use std::path::Path;

use jsonschema::{PatternOptions, Validator};
use mcptest_suite::read::{Fields, Problems, did_you_mean, document};
use mcptest_suite::{Diagnostic, Node, Source, Span, Style, nearest};
use rmcp::model::{ContentBlock, Tool};
use serde_json::{Map, Value, json};

use super::template::Template;
use crate::failure::Failure;

/// A file of tools, read.
#[derive(Debug)]
pub(super) struct MockManifest {
    /// What the server calls itself.
    pub(super) server: String,
    pub(super) instructions: Option<String>,
    pub(super) tools: Vec<MockTool>,
}

/// A tool and what it says.
#[derive(Debug)]
pub(super) struct MockTool {
    pub(super) tool: Tool,
    /// Whether arguments are what the tool takes.
    pub(super) takes: Validator,
    /// The first that is for a call is given; never empty.
    pub(super) answers: Vec<MockAnswer>,
}

/// An answer, and which calls it is for.
#[derive(Debug)]
pub(super) struct MockAnswer {
    /// What the arguments must have, at least.
    pub(super) when: Map<String, Value>,
    pub(super) says: AnswerContent,
}

/// The content of an answer.
#[derive(Debug)]
pub(super) enum AnswerContent {
    /// A text.
    Text(Template),
    /// A value, as JSON text and, where it is a mapping, as structured content.
    Result(Template),
    /// A text that says what went wrong.
    Error(Template),
    /// Blocks of content as MCP has them.
    Content(Template),
}

/// The keys of an answer, of which it has one.
const SAYS: [&str; 4] = ["text", "result", "error", "content"];

impl MockManifest {
    /// Reads a file; everything that is wrong with it is told at once.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| {
            Failure::new(format!("`{shown}` cannot be read: {error}"))
                .with_help("name the file of the tools and their answers with `--tools-from`")
        })?;
        Self::parse(&Source::new(path, shown, text)).map_err(Failure::new)
    }

    /// Everything that is wrong, drawn.
    fn parse(source: &Source) -> Result<Self, String> {
        let mut problems = Problems::default();
        let manifest =
            document(source, &mut problems).and_then(|tree| parse_manifest(&tree, &mut problems));
        match manifest {
            Some(manifest) if problems.noted() == 0 => Ok(manifest),
            _ => {
                let mut drawn = problems.into_diagnostics();
                drawn.sort_by_key(|one| one.primary.as_ref().map(|label| label.span));
                let drawn = drawn.iter().map(|one| one.render(source, Style::Plain));
                let drawn = drawn.collect::<Vec<_>>().join("\n\n");
                Err(format!("these tools cannot be served\n\n{drawn}"))
            }
        }
    }

    /// The tool of a name.
    pub(super) fn tool(&self, name: &str) -> Option<&MockTool> {
        self.tools.iter().find(|tool| tool.tool.name == name)
    }
}

fn parse_manifest(tree: &Node, problems: &mut Problems) -> Option<MockManifest> {
    let mut fields = Fields::open(tree, "a file of tools", problems)?;
    let mut words = |key| {
        let words = fields
            .get(key)
            .and_then(|node| problems.non_blank_text(node));
        words.map(|words| words.value)
    };
    let (server, instructions) = (words("server"), words("instructions"));
    let nodes = fields.required("tools", problems);
    let nodes = nodes
        .and_then(|node| problems.items(node, "tools"))
        .unwrap_or_default();
    let mut names = HashSet::new();
    for node in nodes {
        let name = node.get("name").and_then(Node::text);
        if name.is_some_and(|name| !names.insert(name)) {
            let problem =
                Diagnostic::at(name_span(node), "there is another tool of this name above");
            problems.push(problem.help("put the answers of both tools into one tool"));
        }
    }
    let tools = nodes
        .iter()
        .filter_map(|node| parse_tool(node, problems))
        .collect();
    fields.finish(problems);
    Some(MockManifest {
        server: server.unwrap_or_else(|| "mock".to_owned()),
        instructions,
        tools,
    })
}

fn name_span(tool: &Node) -> Span {
    tool.get("name").map_or(tool.span, |name| name.span)
}

fn parse_tool(node: &Node, problems: &mut Problems) -> Option<MockTool> {
    let before = problems.noted();
    let mut fields = Fields::open(node, "a tool", problems)?;
    let name = fields
        .required("name", problems)
        .and_then(|node| problems.non_blank_text(node));
    let mut listed = Map::new();
    for key in ["title", "description"] {
        if let Some(text) = fields.get(key).and_then(|node| problems.text(node)) {
            listed.insert(key.to_owned(), text.into());
        }
    }
    for key in ["outputSchema", "annotations", "icons", "_meta"] {
        if let Some(node) = fields.get(key) {
            listed.insert(key.to_owned(), node.to_json());
        }
    }
    let schema = fields.either(["inputSchema", "input_schema"], problems);
    let schema = schema.map(|entry| &entry.value);
    let takes = parse_input(schema, problems);
    let short = SAYS.iter().any(|key| fields.has(key));
    let answers = if short {
        if let Some(entry) = fields.entry("answers") {
            let problem = Diagnostic::at(
                entry.key_span,
                "this tool has an answer of its own beside `answers`",
            );
            problems.push(problem.help("move it to the end of the list"));
        }
        vec![parse_content(&mut fields, problems).map(|says| MockAnswer {
            when: Map::new(),
            says,
        })]
    } else {
        match fields.get("answers") {
            Some(list) => {
                let items = problems.items(list, "answers").unwrap_or_default();
                parse_answers(items, problems)
            }
            None if fields.misspells(&["answers"]) => Vec::new(),
            None => {
                let problem = Diagnostic::at(name_span(node), "this tool answers nothing");
                problems.push(problem.help("add `text:`, `result:`, `error:` or `content:`, or a list of such answers as `answers:`"));
                Vec::new()
            }
        }
    };
    fields.finish(problems);
    let (name, takes) = (name?, takes?);
    listed.insert("name".to_owned(), name.value.into());
    listed.insert("inputSchema".to_owned(), takes.schema.clone());
    let answers: Vec<MockAnswer> = answers.into_iter().collect::<Option<_>>()?;
    if let Some(known) = takes.closed_argument_names() {
        check_names(node, &answers, &known, problems);
    }
    for answer in &answers {
        check_condition(node, &answer.when, &takes.schema, problems);
    }
    let tool = serde_json::from_value(listed.into());
    let tool: Option<Tool> = tool
        .map_err(|error| {
            let problem =
                Diagnostic::at(name_span(node), format!("this is no tool of MCP: {error}"));
            problems.push(problem.help("write its keys as `tools/list` has them"));
        })
        .ok();
    (problems.noted() == before).then_some(())?;
    Some(MockTool {
        tool: tool?,
        takes: takes.validator,
        answers,
    })
}

/// What a tool takes: its schema, compiled.
struct ToolInput {
    schema: Value,
    validator: Validator,
}

impl ToolInput {
    /// The arguments that there can be, where the schema names them all.
    fn closed_argument_names(&self) -> Option<Vec<&str>> {
        let keywords = self.schema.as_object()?;
        let plain = [
            "type",
            "properties",
            "required",
            "additionalProperties",
            "$schema",
            "title",
            "description",
        ];
        let open = keywords
            .get("additionalProperties")
            .is_some_and(|more| *more != Value::Bool(false));
        if open || keywords.keys().any(|key| !plain.contains(&key.as_str())) {
            return None;
        }
        let names = keywords.get("properties")?.as_object()?;
        Some(names.keys().map(String::as_str).collect())
    }
}

fn parse_input(node: Option<&Node>, problems: &mut Problems) -> Option<ToolInput> {
    let mut schema = node.map_or_else(|| json!({}), Node::to_json);
    let span = node.map_or_else(Span::default, |node| node.span);
    let Some(keywords) = schema.as_object_mut() else {
        let problem = Diagnostic::at(span, "expected a JSON Schema of an object");
        problems
            .push(problem.help("write the schema of the tool's arguments, for example `{ type: object, properties: … }`"));
        return None;
    };
    let of_type = keywords.entry("type").or_insert_with(|| "object".into());
    if of_type != "object" {
        let message =
            format!("arguments of a tool are always an object, and here they are {of_type}");
        problems.push(Diagnostic::at(span, message).help("write `type: object`"));
        return None;
    }
    match compile_schema(&schema) {
        Ok(validator) => Some(ToolInput { schema, validator }),
        Err(error) => {
            let pointer = error.instance_path().to_string();
            let at = node.map_or(span, |node| node.at_pointer(&pointer).span);
            problems.push(Diagnostic::at(
                at,
                format!("this is no JSON Schema: {error}"),
            ));
            None
        }
    }
}

fn parse_answers(items: &[Node], problems: &mut Problems) -> Vec<Option<MockAnswer>> {
    let mut answers = Vec::new();
    let mut last = false;
    for item in items {
        if last {
            let problem = Diagnostic::at(item.span, "no call gets this answer");
            problems.push(problem.help(
                "the answer before it has no `when:`, so it answers every call; move that answer to the end",
            ));
        }
        answers.push(parse_answer(item, problems));
        last = item.get("when").is_none();
    }
    answers
}

fn parse_answer(node: &Node, problems: &mut Problems) -> Option<MockAnswer> {
    let mut fields = Fields::open(node, "an answer", problems)?;
    let when = match fields.get("when").map(Node::to_json) {
        None => Map::new(),
        Some(Value::Object(map)) if !map.is_empty() => map,
        Some(_) => {
            let span = node.get("when").map_or(node.span, |when| when.span);
            let problem = Diagnostic::at(span, "expected the arguments that this answer is for");
            problems.push(
                problem
                    .help("write `when: { name: value }`, or remove `when:` to answer every call"),
            );
            return None;
        }
    };
    let says = parse_content(&mut fields, problems);
    fields.finish(problems);
    Some(MockAnswer { when, says: says? })
}

fn parse_content(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<AnswerContent> {
    let mut said = SAYS.iter().filter_map(|key| fields.entry(key));
    let (first, second) = (said.next(), said.next());
    drop(said);
    let Some(entry) = first else {
        if !fields.misspells(&SAYS) {
            let problem = Diagnostic::at(fields.span, "this answer says nothing");
            problems.push(problem.help("add `text:`, `result:`, `error:` or `content:`"));
        }
        return None;
    };
    if let Some(second) = second {
        let message = format!(
            "an answer has only one of `text`, `result`, `error`, `content`, and this one has `{}` too",
            second.key
        );
        problems.push(
            Diagnostic::at(second.key_span, message)
                .help("keep one of them, or make two answers of them with `when:`"),
        );
        return None;
    }
    let value = entry.value.to_json();
    let template = match Template::read(&value) {
        Ok(template) => template,
        Err(wrong) => {
            problems.push(Diagnostic::at(entry.value.span, wrong.to_string()));
            return None;
        }
    };
    let is_text = value.is_string();
    match entry.key.as_str() {
        "result" => Some(AnswerContent::Result(template)),
        "content" => {
            if let Err(error) = serde_json::from_value::<Vec<ContentBlock>>(value) {
                let message = format!("these are no content blocks of MCP: {error}");
                let problem = Diagnostic::at(entry.value.span, message);
                problems.push(problem.help("a block of text is `{ type: text, text: … }`"));
                return None;
            }
            Some(AnswerContent::Content(template))
        }
        _ if !is_text => {
            problems.expected("text", &entry.value);
            None
        }
        "error" => Some(AnswerContent::Error(template)),
        _ => Some(AnswerContent::Text(template)),
    }
}

/// A schema that asks nothing of the network, and whose patterns take linear time.
fn compile_schema(schema: &Value) -> Result<Validator, jsonschema::ValidationError<'static>> {
    jsonschema::options()
        .offline()
        .with_pattern_options(PatternOptions::regex())
        .build(schema)
}

/// Notes every argument that an answer waits for and that no call can have.
fn check_condition(
    node: &Node,
    when: &Map<String, Value>,
    schema: &Value,
    problems: &mut Problems,
) {
    for (name, value) in when.iter().filter(|(_, value)| !value.is_object()) {
        let schema = &schema["properties"][name];
        if schema.is_object() && compile_schema(schema).is_ok_and(|schema| !schema.is_valid(value))
        {
            let message = format!("no call gets this answer: `{name}` is never {value}");
            let problem = Diagnostic::at(name_span(node), message);
            problems.push(problem.help("write a value in `when:` that `inputSchema` allows"));
        }
    }
}

/// Notes every argument that an answer speaks of and the tool does not take.
fn check_names(node: &Node, answers: &[MockAnswer], known: &[&str], problems: &mut Problems) {
    for answer in answers {
        let (AnswerContent::Text(said)
        | AnswerContent::Result(said)
        | AnswerContent::Error(said)
        | AnswerContent::Content(said)) = &answer.says;
        let spoken = said.arguments().into_iter();
        for name in spoken.chain(answer.when.keys().map(String::as_str)) {
            if known.contains(&name) {
                continue;
            }
            let message =
                format!("an answer uses the argument `{name}`, which the tool does not have");
            let problem = Diagnostic::at(name_span(node), message);
            problems.push(match nearest(name, known.iter().copied()) {
                Some(_) => did_you_mean(problem, name, known.iter().copied(), "arguments"),
                None => problem.help("add it to the `properties` of `inputSchema`"),
            });
        }
    }
}
