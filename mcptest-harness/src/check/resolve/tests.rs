use super::*;
use mcptest_suite::Span;
use serde_json::json;

fn at(path: &str, root: &Value) -> Result<Value, String> {
    let target = Target::parse(path, Span::default()).unwrap();
    resolve(&target, root)
        .map(Cow::into_owned)
        .map_err(|missing| missing.to_string())
}

#[test]
fn indices_count_from_either_end() {
    let root = json!({ "a": [1, 2, 3] });
    assert_eq!(at("a[0]", &root), Ok(json!(1)));
    assert_eq!(at("a[-1]", &root), Ok(json!(3)));
    assert_eq!(
        at("a[3]", &root),
        Err("`a` has no `[3]`: it has 3 elements, `[0]` to `[2]`".to_owned())
    );
    assert!(at("a[-4]", &root).is_err());
    assert!(at("a[-9223372036854775808]", &root).is_err());
}

#[test]
fn a_result_is_that_of_the_call_wherever_it_stands() {
    let root = json!({ "tool_results": [
        { "call_index": 3, "is_error": false, "result": "d" },
        { "call_index": 0, "is_error": true, "result": "a" },
        { "call_index": 0, "is_error": false, "result": "a later" },
        { "call_index": 2, "is_error": false, "result": "c" },
        { "call_index": 2, "is_error": false, "result": "c later" },
    ] });
    assert_eq!(at("tool_results[0].result", &root), Ok(json!("a")));
    assert_eq!(at("tool_results[2].result", &root), Ok(json!("c later")));
    assert_eq!(at("tool_results[3].result", &root), Ok(json!("d")));
    assert_eq!(at("tool_results[-1].result", &root), Ok(json!("d")));
    assert_eq!(at("tool_results[-3].result", &root), Ok(json!("a")));
    assert_eq!(at("tool_results.length", &root), Ok(json!(5)));
    assert_eq!(
        at("tool_results[1].result", &root),
        Err(
            "`tool_results` has no `[1]`: it has the results of the calls `[0]`, `[2]`, `[3]`"
                .to_owned()
        )
    );
    assert!(at("tool_results[-4]", &root).is_err());
    // What says no call, and a list below another key, is a list.
    assert_eq!(
        at("tool_results[1]", &json!({ "tool_results": [1, 2] })),
        Ok(json!(2))
    );
    let deeper = json!({ "a": root });
    assert_eq!(at("a.tool_results[0].result", &deeper), Ok(json!("d")));
}

#[test]
fn a_sub_agent_is_found_by_its_name_or_its_place() {
    let root = json!({ "agents": [
        { "agent_id": "planner", "tool_names": ["plan"] },
        { "agent_id": "code writer", "tool_names": ["read", "write"] },
    ] });
    assert_eq!(at("agents.planner.tool_names[0]", &root), Ok(json!("plan")));
    assert_eq!(
        at(r#"agents["code writer"].tool_names.length"#, &root),
        Ok(json!(2))
    );
    assert_eq!(at("agents[1].agent_id", &root), Ok(json!("code writer")));
    assert_eq!(
        at("agents[*].agent_id", &root),
        Ok(json!(["planner", "code writer"]))
    );
    assert_eq!(at("agents.length", &root), Ok(json!(2)));
    assert_eq!(
        at("agents.planer.tool_names", &root),
        Err("`agents` has no `planer`: it has `code writer`, `planner`".to_owned())
    );
    // Lists of other names have no names in them.
    let deeper = json!({ "a": root });
    assert!(at("a.agents.planner", &deeper).is_err());
}

#[test]
fn a_score_is_found_by_its_name() {
    let root = json!({ "scores": [
        { "name": "helpful", "value": 4, "by": "ann", "passed": true },
        { "name": "polite", "value": 0.5, "by": "ann" },
        { "name": "helpful", "value": 2, "by": "gpt-5", "passed": false },
        { "name": "a.b", "value": 1, "by": "ann" },
    ] });
    assert_eq!(at("scores.polite", &root), Ok(json!(0.5)));
    assert_eq!(at("scores.helpful", &root), Ok(json!([4, 2])));
    assert_eq!(at("scores.helpful.passed", &root), Ok(json!([true, false])));
    assert_eq!(at(r#"scores["a.b"]"#, &root), Ok(json!(1)));
    assert_eq!(at("scores[2].by", &root), Ok(json!("gpt-5")));
    assert_eq!(at("scores.length", &root), Ok(json!(4)));
    assert_eq!(
        at("scores.helpfull", &root),
        Err("`scores` has no `helpfull`: it has `a.b`, `helpful`, `polite`".to_owned())
    );
    assert!(at("scores.polite.passed", &root).is_err());
    assert!(at("scores.helpful", &json!({ "scores": [] })).is_err());
    assert!(at("scores.helpful", &json!({})).is_err());
}

#[test]
fn a_wildcard_leaves_out_what_lacks_the_rest() {
    let root = json!({ "a": [{ "b": 1 }, { "c": 2 }], "e": [] });
    assert_eq!(at("a[*].b", &root), Ok(json!([1])));
    assert_eq!(at("e[*].b", &root), Ok(json!([])));
    assert_eq!(
        at("a[*].d", &root),
        Err("`a[*]` has no `d`: it has `b`".to_owned())
    );
}

#[test]
fn an_empty_list_beside_it_does_not_hide_a_key_that_leads_nowhere() {
    let root = json!({ "r": [{ "items": [{ "name": "x" }] }, { "items": [] }, { "text": "" }] });
    assert_eq!(
        at("r[*].items[*].price", &root),
        Err("`r[*].items[*]` has no `price`: it has `name`".to_owned())
    );
    assert_eq!(at("r[*].items[*].name", &root), Ok(json!([["x"], []])));
    let empty = json!({ "r": [{ "items": [] }, { "items": [] }] });
    assert_eq!(at("r[*].items[*].price", &empty), Ok(json!([[], []])));
    // In one of the lists it does lead somewhere.
    let some = json!({ "r": [{ "items": [{ "price": 1 }] }, { "items": [{ "name": "x" }] }] });
    assert_eq!(at("r[*].items[*].price", &some), Ok(json!([[1]])));
    // Items of another shape do not count as empty lists.
    let mixed = json!({ "r": [{ "text": "" }, { "items": [] }] });
    assert_eq!(at("r[*].items[*].price", &mixed), Ok(json!([[]])));
}

#[test]
fn an_own_key_length_wins() {
    let root = json!({ "a": { "length": "own" }, "b": "größe", "c": { "x": 1 }, "d": 3 });
    assert_eq!(at("a.length", &root), Ok(json!("own")));
    assert_eq!(at("b.length", &root), Ok(json!(5)));
    assert_eq!(at("c.length", &root), Ok(json!(1)));
    assert_eq!(
        at("d.length", &root),
        Err("`d` has no `length`: it is 3".to_owned())
    );
}

#[test]
fn length_can_follow_a_wildcard() {
    let root = json!({ "a": [{ "b": [1, 2] }, { "b": [] }] });
    assert_eq!(at("a[*].length", &root), Ok(json!([1, 1])));
    assert_eq!(at("a[*].b.length", &root), Ok(json!([2, 0])));
}

#[test]
fn a_typo_names_the_step_and_what_is_there() {
    let root = json!({ "tool_calls": [], "final_response": "x" });
    let target = Target::parse("final_respnse.length", Span::default()).unwrap();
    let missing = resolve(&target, &root).unwrap_err();
    assert_eq!(
        missing.to_string(),
        "there is no `final_respnse`: it has `final_response`, `tool_calls`"
    );
    assert_eq!(missing.nearest.as_deref(), Some("final_response.length"));
}
