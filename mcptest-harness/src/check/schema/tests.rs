//! Schemas as expected arguments.

use std::sync::Arc;

use mcptest_trace::eval::{ArgsShape, ExpectedCall, ExpectedTrace, MatchMode, validate_trace};
use serde_json::json;

use super::Schema;

#[test]
fn a_malformed_schema_is_an_error_and_a_misfit_is_not() {
    let run = json!({ "tool_calls": [{ "name": "a", "args": { "n": 0 } }] });
    let plan = |schema| {
        let shape = ArgsShape::Schema(Arc::new(Schema::new(schema)));
        validate_trace(&run, &plan_of_schema(shape))
    };
    assert!(
        plan(json!({ "properties": { "n": { "minimum": 0 } } }))
            .unwrap()
            .passed
    );
    assert!(
        !plan(json!({ "properties": { "n": { "minimum": 1 } } }))
            .unwrap()
            .passed
    );
    assert_eq!(plan(json!({ "type": 7 })).unwrap_err().pointer, "/type");
}

fn plan_of_schema(shape: ArgsShape<Arc<Schema>>) -> ExpectedTrace<Arc<Schema>> {
    ExpectedTrace::new(MatchMode::Strict, vec![ExpectedCall::new("a", shape)])
}

#[test]
fn a_call_without_arguments_is_one_with_an_empty_object() {
    let holds = |schema, call| {
        let shape = ArgsShape::Schema(Arc::new(Schema::new(schema)));
        let report = validate_trace(&json!({ "tool_calls": [call] }), &plan_of_schema(shape));
        report.unwrap().passed
    };
    let bare = || json!({ "name": "a" });
    assert!(holds(json!({ "type": "object" }), bare()));
    assert!(!holds(json!({ "required": ["x"] }), bare()));
    // Text is no object, whatever it says.
    let text = json!({ "name": "a", "args": "x" });
    assert!(!holds(json!({ "required": ["x"] }), text));
}
