//! The report as one HTML file, for people who would rather look than read.
//!
//! The file needs no network and no other file. What it shows is data beside the page, compressed: one
//! piece for the overview and one for each agent, unpacked when the agent is looked at. Text of
//! recordings never stands in the page's source, so nothing in it can break out of it; the page writes
//! it as text, with control and direction characters made visible.

mod agent;
mod closing;
mod overview;
mod played;
mod value;

use std::io::{self, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use mcptest::judge::Package;
use mcptest::result::CaseResult;
use serde::Serialize;

use agent::AgentView;
use overview::Overview;
use serde_json::Value;

use super::evidence::BaselineChanges;
use super::state::ReportState;

/// What is said beside the verdicts.
#[derive(Debug, Default)]
pub(super) struct Remarks {
    /// Which state of which project it is.
    pub(super) state: ReportState,
    /// What changed since a baseline.
    pub(super) changes: Option<BaselineChanges>,
    /// Pages of their own, each with its address.
    pub(super) pages: Vec<(&'static str, Value)>,
    /// What must be known of where the results come from, a line each.
    pub(super) notes: Vec<String>,
}

/// The page of a package's results, which are in the order of their names. An error is one of
/// packing.
pub(super) fn render(
    package: &Package,
    results: &[CaseResult],
    remarks: Remarks,
) -> io::Result<String> {
    let mut pieces = String::new();
    for (name, page) in &remarks.pages {
        pieces += &data_element(name, page)?;
    }
    let mut overview = Overview::new(remarks);
    for result in results.iter().filter(|result| result.agent.is_none()) {
        overview.add_suite_case(result);
    }
    for test in package.agents() {
        let results = agent::agent_results(results, test.case());
        if results.is_empty() {
            continue;
        }
        let view = AgentView::new(&test, &results);
        let number = overview.add(&test, &view, &results);
        pieces += &data_element(&format!("agent-{number}"), &view)?;
    }
    overview.finish_curve();
    pieces += &data_element("overview", &overview)?;
    Ok(PAGE
        .replacen("/*style*/", STYLE, 1)
        .replacen("/*script*/", SCRIPT, 1)
        .replacen("/*evidence*/", EVIDENCE, 1)
        .replacen("/*history*/", HISTORY, 1)
        .replacen("<!--data-->", &pieces, 1))
}

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
const EVIDENCE: &str = include_str!("evidence.js");
const HISTORY: &str = include_str!("history.js");

/// Data as an element of the page: JSON, deflated, in base64.
fn data_element(id: &str, data: &impl Serialize) -> io::Result<String> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    serde_json::to_writer(&mut encoder, data)?;
    encoder.flush()?;
    let packed = BASE64.encode(encoder.finish()?);
    Ok(format!(
        "<script type=\"application/octet-stream\" id=\"{id}\">{packed}</script>\n"
    ))
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::DeflateDecoder;
    use mcptest::judge::PackageCase;
    use serde_json::{Value, json};

    use super::*;

    const HOSTILE: &str = "</script><script>alert(1)</script>";

    fn page() -> String {
        page_with(Remarks::default())
    }

    fn page_with(remarks: Remarks) -> String {
        page_of(remarks, "{}", &json!("I have deleted the order."))
    }

    /// The page of a run with this closing, read as `narrative:` says.
    fn page_of(remarks: Remarks, narrative: &str, closing: &Value) -> String {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("suites/cassettes");
        std::fs::create_dir_all(&below).unwrap();
        let suite = format!(
            "agents:\n  - name: A\n    model: m\n    prompt: {HOSTILE:?}\n    narrative: {narrative}\n    golden_path: {{ calls: [get, put] }}\n"
        );
        std::fs::write(folder.path().join("suites/s.yml"), suite).unwrap();
        let run = json!({
            "schema_version": "v1", "model": "m", "user_prompt": HOSTILE, "agent_name": "A",
            "outcome": { "passed": false },
            "trace": {
                "tool_calls": [{ "name": "get", "args": { "x": HOSTILE } }, { "name": "get", "args": { "x": HOSTILE } }],
                "tool_results": [
                    { "call_index": 0, "is_error": false, "result": { "content": [{ "type": "text", "text": "{\"a\":1}" }] } },
                    { "call_index": 1, "is_error": true, "result": "gone" },
                ],
                "final_response": closing,
                "conversation": { "tokens": { "total": 10 }, "turns": [
                    { "role": "user", "content": HOSTILE },
                    { "role": "assistant", "content": "One moment." },
                    { "role": "assistant", "content": "Hello. I've closed ticket T-7." },
                    { "role": "user", "content": "And the order?" },
                    { "role": "assistant", "content": closing.as_str().unwrap_or_default() },
                ] },
            },
        });
        std::fs::write(below.join("A__m.json"), run.to_string()).unwrap();
        let package = Package::open(folder.path(), "shop", &["suites".into()]);
        let results: Vec<_> = package.cases().iter().map(PackageCase::judge).collect();
        render(&package, &results, remarks).unwrap()
    }

    fn unpacked(page: &str, id: &str) -> Value {
        let begin = format!("<script type=\"application/octet-stream\" id=\"{id}\">");
        let (_, rest) = page.split_once(&begin).unwrap();
        let (packed, _) = rest.split_once('<').unwrap();
        let bytes = BASE64.decode(packed).unwrap();
        let mut text = String::new();
        DeflateDecoder::new(&bytes[..])
            .read_to_string(&mut text)
            .unwrap();
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn no_text_of_a_recording_stands_in_the_source_of_the_page() {
        let page = page();
        assert!(!page.contains("alert") && !page.contains("deleted the order"));
        assert_eq!(page.matches("<script").count(), 3);
        assert_eq!(page, self::page());
    }

    #[test]
    fn no_text_of_a_page_of_evidence_stands_in_the_source_of_the_page() {
        let pages = ["compare", "calibrate", "mutants"];
        let page = page_with(Remarks {
            pages: pages
                .map(|name| (name, json!({ "text": HOSTILE })))
                .to_vec(),
            ..Remarks::default()
        });
        assert!(!page.contains("alert"));
        assert_eq!(page.matches("<script").count(), 6);
        for name in pages {
            assert_eq!(unpacked(&page, name)["text"], HOSTILE);
        }
        assert_eq!(unpacked(&page, "overview")["pages"], json!(pages));
    }

    #[test]
    fn an_agent_shows_its_calls_its_claims_and_what_the_plan_misses() {
        let agent = unpacked(&page(), "agent-0");
        let run = &agent["runs"][0];
        assert_eq!(run["passed"], false);
        assert_eq!(run["calls"][0]["result"], "{\n  \"a\": 1\n}");
        assert_eq!(run["calls"][0]["planned"], true);
        assert_eq!(run["calls"][1]["repeats"], 0);
        assert_eq!(run["calls"][1]["error"], true);
        assert_eq!(run["missing"], json!(["put"]));
        assert_eq!(run["claims"][0]["verdict"], "unsupported");
        assert_eq!(run["closing"][0], json!(["I have deleted the order", 0]));
        assert_eq!(agent["suite"]["lines"][0], "  - name: A");
    }

    #[test]
    fn claims_of_earlier_messages_follow_those_of_the_closing() {
        let run = |narrative: &str, closing: Value| {
            let page = page_of(Remarks::default(), narrative, &closing);
            unpacked(&page, "agent-0")["runs"][0].clone()
        };
        let earlier = "turn 2: \"I've closed ticket T-7.\": no successful call supports it";
        let all = run("{ all_messages: true }", json!("I have deleted the order."));
        let why = |run: &Value| -> Vec<Value> {
            let claims = run["claims"].as_array().unwrap();
            claims.iter().map(|claim| claim["why"].clone()).collect()
        };
        assert_eq!(why(&all), ["no successful call supports it", earlier]);
        assert_eq!(all["closing"][0], json!(["I have deleted the order", 0]));
        let all = run("{}", json!("I have deleted the order."));
        assert_eq!(why(&all), ["no successful call supports it"]);
        // Where there is no final response the last message closes.
        let last = run("{}", Value::Null);
        assert_eq!(why(&last), ["no successful call supports it"]);
        assert_eq!(last["closing"][1], json!(["I've closed ticket T-7", 0]));
    }

    #[test]
    fn the_overview_counts_cases_and_runs() {
        let overview = unpacked(&page(), "overview");
        assert_eq!(
            overview["passed"].as_u64().unwrap() + overview["failed"].as_u64().unwrap(),
            3
        );
        assert_eq!(
            (&overview["runs"], &overview["runs_passed"]),
            (&json!(1), &json!(0))
        );
        assert_eq!(overview["curve"][0]["mean"], 0.0);
        assert_eq!(overview["agents"][0]["runs"], json!([[false, 2, 1]]));
        let failing = overview["failing"].as_array().unwrap();
        assert_eq!(failing.len(), overview["failed"]);
        let narrative = failing.iter().find(|one| one["gate"] == "narrative");
        let narrative = narrative.unwrap();
        assert_eq!(narrative["place"], "suites/s.yml:5");
        let command = "cargo test -p shop -- --exact s::a::narrative";
        assert_eq!(narrative["command"], command);
        let evidence = narrative["evidence"].as_str().unwrap();
        assert!(evidence.contains("I have deleted the order"), "{evidence}");
    }
}
