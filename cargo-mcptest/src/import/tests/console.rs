//! What the console exporters of the SDKs print: opentelemetry-python `ReadableSpan.to_json`, opentelemetry-js
//! `ConsoleSpanExporter._exportInfo` through Node's `console.dir`.

use serde_json::{Value, json};

use super::Desk;

fn fixture() -> Value {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/src/import/tests/spans/openinference.json"
    );
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn spans(export: &Value) -> Vec<Value> {
    export["resourceSpans"][0]["scopeSpans"][0]["spans"]
        .as_array()
        .unwrap()
        .clone()
}

/// Microseconds since 1970.
fn at(span: &Value, key: &str) -> i64 {
    span[key].as_str().unwrap().parse::<i64>().unwrap() / 1000
}

fn code(span: &Value) -> &str {
    let code = span["status"]["code"].as_str().unwrap_or_default();
    code.strip_prefix("STATUS_CODE_").unwrap_or("UNSET")
}

fn of_python(span: &Value) -> Value {
    let moment = |key| {
        jiff::Timestamp::from_microsecond(at(span, key))
            .unwrap()
            .to_string()
    };
    let parent = span["parentSpanId"]
        .as_str()
        .filter(|parent| !parent.is_empty());
    json!({ "name": span["name"],
        "context": { "trace_id": format!("0x{}", span["traceId"].as_str().unwrap()), "span_id": format!("0x{}", span["spanId"].as_str().unwrap()), "trace_state": "[]" },
        "kind": "SpanKind.INTERNAL", "parent_id": parent.map(|parent| format!("0x{parent}")),
        "start_time": moment("startTimeUnixNano"), "end_time": moment("endTimeUnixNano"),
        "status": { "status_code": code(span) }, "attributes": span["attributes"], "events": [], "links": [],
        "resource": { "attributes": { "service.name": "desk" }, "schema_url": "" } })
}

/// As Node prints it, but for its line breaks.
fn of_javascript(span: &Value, old: bool) -> String {
    let quoted = |text: &str| {
        let quote = if text.contains('\'') { '`' } else { '\'' };
        format!("{quote}{}{quote}", text.replace('\\', "\\\\"))
    };
    let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), quoted);
    let attributes = span["attributes"].as_object().unwrap().iter();
    let attributes: Vec<String> = attributes
        .map(|(key, value)| format!("    '{key}': {}", shown(value)))
        .collect();
    let trace = span["traceId"].as_str().unwrap();
    let parent = span["parentSpanId"]
        .as_str()
        .filter(|parent| !parent.is_empty());
    let parent = match (parent, old) {
        (None, true) => "parentId: undefined".to_owned(),
        (None, false) => "parentSpanContext: undefined".to_owned(),
        (Some(parent), true) => format!("parentId: '{parent}'"),
        (Some(parent), false) => format!(
            "parentSpanContext: {{\n    traceId: '{trace}',\n    spanId: '{parent}',\n    traceFlags: 1\n  }}"
        ),
    };
    let code = ["UNSET", "OK", "ERROR"]
        .iter()
        .position(|it| *it == code(span))
        .unwrap();
    let (begin, end) = (at(span, "startTimeUnixNano"), at(span, "endTimeUnixNano"));
    format!(
        "{{\n  resource: {{\n    attributes: {{ 'service.name': 'desk' }}\n  }},\n  instrumentationScope: {{ name: 'x', version: undefined }},\n  traceId: '{trace}',\n  \
         {parent},\n  traceState: undefined,\n  name: {},\n  id: '{}',\n  kind: 0,\n  timestamp: {begin},\n  duration: {}.5,\n  attributes: {{\n{}\n  }},\n  \
         status: {{ code: {code} }},\n  events: [],\n  links: []\n}}\n",
        shown(&span["name"]),
        span["spanId"].as_str().unwrap(),
        end - begin,
        attributes.join(",\n")
    )
}

/// The recording, but for which file it is of.
fn run_of(file: &str, text: &str) -> Value {
    let desk = Desk::new();
    desk.write(file, text);
    let said = desk.import(&[file]);
    assert_eq!(said.status, 0, "{file}: {said:?}");
    let mut run = desk.recording();
    for key in ["file", "record"] {
        run["imported"][key] = Value::Null;
    }
    run
}

#[test]
fn what_consoles_print_is_read_as_the_export_of_the_same_spans() {
    let export = fixture();
    let expected = run_of("a.json", &export.to_string());
    let spans = spans(&export);
    let lines: String = spans
        .iter()
        .map(|span| format!("{}\n", of_python(span)))
        .collect();
    assert_eq!(run_of("a.jsonl", &lines), expected);
    let indented: String = spans
        .iter()
        .map(|span| format!("{:#}\n", of_python(span)))
        .collect();
    assert_eq!(run_of("a.txt", &indented), expected);
    // As Python orders and indents them, among what the program prints.
    let own: String = spans
        .iter()
        .map(|span| {
            let span = of_python(span);
            let keys = [
                "name",
                "context",
                "kind",
                "parent_id",
                "start_time",
                "end_time",
                "status",
                "attributes",
                "events",
                "links",
                "resource",
            ];
            let keys = keys.map(|key| {
                let value = format!("{:#}", span[key]).replace('\n', "\n  ");
                format!("  \"{key}\": {value}")
                    .replace('\n', "\n  ")
                    .replacen("  ", "    ", 1)
            });
            format!("it's \"on {{\n{{\n{}\n}}\n", keys.join(",\n"))
        })
        .collect();
    assert_eq!(run_of("a.out", &own), expected, "{own}");
    for old in [true, false] {
        let printed: Vec<String> = spans.iter().map(|span| of_javascript(span, old)).collect();
        // The program prints, too.
        let printed = format!("it's {{ starting\n{}done }}\n", printed.join("and \"on\n"));
        assert_eq!(run_of("a.log", &printed), expected, "{printed}");
    }
}

#[test]
fn what_the_console_cut_short_is_reported() {
    let spans = spans(&fixture());
    let printed: String = spans
        .iter()
        .map(|span| of_javascript(span, false))
        .collect();
    let printed = printed.replace("'delivered'", "'deliv'... 4 more characters");
    let desk = Desk::new();
    desk.write("a.log", printed);
    let said = desk.import(&["a.log"]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(said.err.contains("cut short by the console"), "{said:?}");
}
