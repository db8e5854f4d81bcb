//! A target's path, a schema and a run: the path leads to a value of the run or says what is missing, and the schema says
//! of that value the same in each of its ways. The text has the path, the schema and the run, with `%%%` lines between.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcptest::check::{Schema, target};
use mcptest_trace::trace::{Origin, parse_run};

fuzz_target!(|text: &str| {
    let mut parts = text.splitn(3, "\n%%%\n");
    let (Some(path), Some(schema), Some(run)) = (parts.next(), parts.next(), parts.next()) else {
        return;
    };
    let Ok(run) = parse_run(run.as_bytes(), &Origin::file("run.json")) else {
        return;
    };
    let found = target(&run, path);
    assert_eq!(found, target(&run, path));
    let value = match found {
        Ok(value) => value,
        Err(problem) => {
            assert!(!problem.to_string().is_empty());
            run.envelope().clone()
        }
    };
    let Ok(schema) = serde_json::from_str(schema) else {
        return;
    };
    let schema = Schema::new(schema);
    match schema.violations(&value) {
        Ok(violations) => assert_eq!(violations.is_empty(), schema.accepts(&value)),
        Err(_) => {
            assert!(schema.malformed().is_some());
            assert!(!schema.accepts(&value));
        }
    }
});
