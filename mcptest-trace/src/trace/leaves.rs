//! The scalars of a value, and their paths.

use serde_json::Value;

/// A key or an index.
#[derive(Clone, Copy)]
pub(crate) enum PathPart<'a> {
    Key(&'a str),
    Index(usize),
}

/// The keys of an object by byte.
pub(crate) fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value
        .as_object()
        .map(|map| map.keys().map(String::as_str).collect())
        .unwrap_or_default();
    keys.sort_unstable();
    keys
}

/// The scalars of a value with their paths: keys by byte, arrays by index.
pub(crate) fn leaves(value: &Value) -> Vec<(Vec<PathPart<'_>>, &Value)> {
    fn walk<'a>(
        value: &'a Value,
        path: &mut Vec<PathPart<'a>>,
        found: &mut Vec<(Vec<PathPart<'a>>, &'a Value)>,
    ) {
        match value {
            Value::Object(map) => {
                for key in keys(value) {
                    if let Some(item) = map.get(key) {
                        path.push(PathPart::Key(key));
                        walk(item, path, found);
                        path.pop();
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    path.push(PathPart::Index(index));
                    walk(item, path, found);
                    path.pop();
                }
            }
            scalar => found.push((path.clone(), scalar)),
        }
    }
    let mut found = Vec::new();
    walk(value, &mut Vec::new(), &mut found);
    found
}

/// The JSON pointer of a path.
pub(crate) fn pointer(path: &[PathPart<'_>]) -> String {
    let steps = path.iter().map(|step| match step {
        PathPart::Key(key) => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
        PathPart::Index(index) => format!("/{index}"),
    });
    steps.collect()
}

/// A path as it is written behind what it leads into.
pub(crate) fn path_text(path: &[PathPart<'_>]) -> String {
    let steps = path.iter().map(|step| match step {
        PathPart::Key(key) => format!(".{key}"),
        PathPart::Index(index) => format!("[{index}]"),
    });
    steps.collect()
}
