//! What a recording keeps of its first request to the model beside the talk: the offered tools and the parameters.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

/// What a recording says of its first request to the model beside the talk, each as JSON text.
#[doc(hidden)]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestSettings {
    /// The tools that were offered; nothing where the recording does not list them.
    pub tools: Option<Arc<str>>,
    /// The parameters, by their names.
    pub parameters: BTreeMap<String, String>,
    /// Whether there were no parameters but these.
    pub has_all_parameters: bool,
}

/// The parts of a recording that this is read from; the rest is passed over.
#[derive(Deserialize)]
struct Settings<'a> {
    #[serde(borrow, default)]
    tools: Option<&'a RawValue>,
    #[serde(borrow, default)]
    temperature: Option<&'a RawValue>,
    #[serde(borrow, default)]
    max_tokens: Option<&'a RawValue>,
    #[serde(borrow, default)]
    session: Option<Session<'a>>,
}

#[derive(Deserialize)]
struct Session<'a> {
    #[serde(borrow, default)]
    conversations: Vec<Conversation<'a>>,
}

#[derive(Deserialize)]
struct Conversation<'a> {
    #[serde(borrow, default)]
    role: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    answers: Vec<Answer<'a>>,
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow, default)]
    parameters: Option<BTreeMap<String, &'a RawValue>>,
}

impl RequestSettings {
    /// Of the text of a recording, which was read before.
    pub(super) fn from_text(text: &[u8]) -> Option<Self> {
        let Settings {
            tools,
            temperature,
            max_tokens,
            session,
        } = serde_json::from_slice(text).ok()?;
        let conversations = session.into_iter().flat_map(|it| it.conversations);
        let mut main = conversations.filter(|it| it.role.as_deref() == Some("main"));
        // A session writes parameters down where they change: none are there before.
        let own = main.next().map(|main| {
            let first = main.answers.into_iter().next();
            first.and_then(|answer| answer.parameters)
        });
        let has_all_parameters = own.is_some();
        let beside = [("temperature", temperature), ("max_tokens", max_tokens)];
        let beside = beside.into_iter().filter(|_| !has_all_parameters);
        let beside = beside.filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let parameters = own.flatten().unwrap_or_default().into_iter().chain(beside);
        Some(Self {
            tools: tools.map(|tools| tools.get().into()),
            parameters: parameters
                .map(|(name, value)| (name, value.get().to_owned()))
                .collect(),
            has_all_parameters,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> RequestSettings {
        RequestSettings::from_text(text.as_bytes()).unwrap()
    }

    fn parameters(found: &RequestSettings) -> Vec<(&str, &str)> {
        let all = found.parameters.iter();
        all.map(|(name, value)| (name.as_str(), value.as_str()))
            .collect()
    }

    #[test]
    fn a_session_says_all_parameters_of_its_main_conversation() {
        let found = read(
            r#"{ "model": "m", "max_tokens": 9, "tools": [{ "name": "find" }],
            "session": { "version": "1.2", "conversations": [
                { "role": "side", "answers": [{ "parameters": { "temperature": 9 } }] },
                { "role": "main", "answers": [{ "id": "a", "parameters": { "temperature": 0.5, "stop": ["a"] } },
                    { "parameters": { "temperature": 1 } }] } ] } }"#,
        );
        assert_eq!(found.tools.as_deref(), Some(r#"[{ "name": "find" }]"#));
        assert_eq!(
            parameters(&found),
            [("stop", r#"["a"]"#), ("temperature", "0.5")]
        );
        assert!(found.has_all_parameters);
        let none =
            read(r#"{ "session": { "conversations": [{ "role": "main", "answers": [{}] }] } }"#);
        assert!(none.has_all_parameters && none.parameters.is_empty());
    }

    #[test]
    fn other_recordings_say_some_parameters_or_none() {
        let found = read(r#"{ "max_tokens": 1024, "temperature": null, "tools": null }"#);
        assert_eq!(parameters(&found), [("max_tokens", "1024")]);
        assert!(!found.has_all_parameters && found.tools.is_none());
        assert_eq!(read("{}"), RequestSettings::default());
        // What another version of a session writes is not guessed at.
        assert_eq!(
            RequestSettings::from_text(br#"{ "session": { "conversations": 7 } }"#),
            None
        );
    }
}
