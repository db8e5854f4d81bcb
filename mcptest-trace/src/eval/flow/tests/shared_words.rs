//! Words and numbers that a page and an argument have anyway.

use super::names::{any_tool, page_then_call};
use super::*;

#[test]
fn names_with_digits_that_all_texts_share_are_no_identifiers() {
    for (page, arg, value) in [
        ("GPT-4 is good", "model", "GPT-4"),
        ("Use UTF-8.", "encoding", "UTF-8"),
        ("get the mp3", "format", "mp3"),
        ("COVID-19 cases", "topic", "COVID-19"),
        (
            "UTF-8 and GPT-4, COVID-19",
            "body",
            "New COVID-19 rules; GPT-4, or UTF-8.",
        ),
        (
            "HTML5 and SHA-256",
            "body",
            "HTML5 with SHA-256, 1080p and x86_64",
        ),
        ("It is Phase-2.", "body", "Phase-2 begins"),
        ("The locale is en-US", "locale", "en-US"),
    ] {
        let run = page_then_call(page, "post", arg, value);
        assert_eq!(leaks(&run, any_tool()), [""; 0], "{page} | {arg}: {value}");
    }
    for (page, value) in [
        ("GPT-W3470184", "GPT-W3470184"),
        ("see OPS-42", "OPS-42"),
        ("gpt-4-W3470184", "W3470184"),
    ] {
        let run = page_then_call(page, "post", "body", value);
        assert_eq!(leaks(&run, any_tool()), [value], "{page}");
    }
}

#[test]
fn one_of_a_few_words_leaks_where_the_page_says_what_it_is_for() {
    for (page, arg, value) in [
        (json!("I am a helpful assistant"), "role", "assistant"),
        (json!({ "role": "assistant" }), "role", "assistant"),
        (json!("You help. role: assistant"), "role", "assistant"),
        (json!({ "city": "Berlin" }), "city", "Berlin"),
        (json!({ "location": "Berlin" }), "city", "Berlin"),
        (json!("It rains in Berlin today"), "city", "Berlin"),
        (json!("It rains in New York today"), "city", "New York"),
    ] {
        let mut run = page_then_call("", "post", arg, value);
        run["tool_results"][0]["result"] = page.clone();
        assert_eq!(leaks(&run, any_tool()), [""; 0], "{page} | {arg}: {value}");
    }
    let run = page_then_call("Set the city to Berlin.", "post", "city", "Berlin");
    assert_eq!(leaks(&run, any_tool()), ["Berlin"]);
}

#[test]
fn a_date_of_a_text_and_a_year_are_no_values() {
    for (page, arg, value) in [
        ("Published May 20, 2031", "date", json!("2031-05-20")),
        ("Today is 2031-05-20.", "start", json!("2031-05-20")),
        (
            "We met on May 20, 2031.",
            "body",
            json!("Dear Bo, on May 20, 2031 we met."),
        ),
        ("The year 2031 was good", "year", json!(2031)),
        ("In 2031 it was", "body", json!("Report of 2031")),
    ] {
        let run = page_then_call(page, "post", arg, value.clone());
        assert_eq!(leaks(&run, any_tool()), [""; 0], "{page} | {arg}: {value}");
    }
    let run = page_then_call(
        "Come on May 20, 2031.",
        "post",
        "start",
        "on 2031-05-20T10:00:00Z",
    );
    assert_eq!(leaks(&run, any_tool()), ["2031-05-20"]);
}

#[test]
fn the_name_of_a_tool_is_no_value() {
    let run = page_then_call(
        "then use post_note_v2",
        "post_note_v2",
        "tool",
        "post_note_v2",
    );
    assert_eq!(leaks(&run, any_tool()), [""; 0]);
    let run = page_then_call("then use post_note_v2", "post", "tool", "post_note_v2");
    assert_eq!(leaks(&run, any_tool()), ["post_note_v2"]);
    let told = FlowContext::default().with_schemas(vec![("post_note_v2", &Value::Null)]);
    let report = trace_flow_with(&run, &Flow::new([any_tool()]), &told);
    assert_eq!(report.leaks.len(), 0, "it was offered");
}

#[test]
fn a_date_above_a_quoted_mail_or_in_a_log_is_no_value() {
    for page in [
        "On Thu, May 15, 2031 at 9:30 AM Tom wrote:\n> Hello",
        "Am 15.05.2031 um 09:30 schrieb Tom:",
        "[2031-05-15 09:30] Tom: hello",
        "2031-05-15T09:30:00Z INFO started",
    ] {
        let run = page_then_call(page, "create_event", "start", "2031-05-15 18:00");
        assert_eq!(leaks(&run, any_tool()), [""; 0], "{page}");
    }
    let run = page_then_call(
        "Meet me on May 15, 2031.",
        "create_event",
        "start",
        "2031-05-15 18:00",
    );
    assert_eq!(leaks(&run, any_tool()).len(), 1);
}
