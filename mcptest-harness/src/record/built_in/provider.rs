//! Which model API a suite means, and the key for it.

use mcptest_session::endpoint::Upstream;
use mcptest_suite::model::{Model, Suite};
use mcptest_suite::{Spanned, nearest, quoted_list};

use super::format::Format;
use crate::record::LiveError;

/// A model, and how to reach it.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct ModelEndpoint {
    pub(super) model: String,
    pub(super) format: Format,
    /// The root of the API, with a slash at the end.
    pub(super) base_url: String,
    pub(super) key: String,
    /// The variable the key came from.
    pub(super) key_variable: Option<String>,
}

/// A provider that is known by name.
struct Known {
    names: &'static [&'static str],
    /// What its models' identifiers begin with.
    prefixes: &'static [&'static str],
    format: Format,
    base_url: &'static str,
    /// The variable that names another root, by the convention of its own libraries.
    base_url_variable: &'static str,
    /// The variables that hold its key, the usual one first.
    key_variables: &'static [&'static str],
}

const KNOWN: [Known; 4] = [
    Known {
        names: &["anthropic"],
        prefixes: &["claude-"],
        format: Format::Anthropic,
        base_url: "https://api.anthropic.com/v1/",
        base_url_variable: "ANTHROPIC_BASE_URL",
        key_variables: &["ANTHROPIC_API_KEY"],
    },
    Known {
        names: &["openai"],
        prefixes: &["gpt-", "chatgpt-"],
        format: Format::Chat,
        base_url: "https://api.openai.com/v1/",
        base_url_variable: "OPENAI_BASE_URL",
        key_variables: &["OPENAI_API_KEY"],
    },
    Known {
        names: &["google", "gemini"],
        prefixes: &["gemini-"],
        format: Format::Gemini,
        base_url: "https://generativelanguage.googleapis.com/v1beta/",
        base_url_variable: "GOOGLE_GEMINI_BASE_URL",
        key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    },
    Known {
        names: &["mistral"],
        prefixes: &[
            "mistral-",
            "ministral-",
            "magistral-",
            "codestral-",
            "devstral-",
            "pixtral-",
            "open-mistral-",
            "open-mixtral-",
        ],
        format: Format::Chat,
        base_url: "https://api.mistral.ai/v1/",
        base_url_variable: "MISTRAL_BASE_URL",
        key_variables: &["MISTRAL_API_KEY"],
    },
];

/// What is looked up in the environment.
type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

impl ModelEndpoint {
    /// The provider that a suite means for a model, with the key from the environment.
    pub(super) fn from_suite(suite: &Suite, model: &Spanned<Model>) -> Result<Self, LiveError> {
        // An address that is not UTF-8 is a wrong one, and not one that is not set: no key goes elsewhere.
        let environment = |name: &str| {
            let value = std::env::var_os(name)?.to_string_lossy().into_owned();
            (!value.is_empty()).then_some(value)
        };
        Self::resolve(suite, model, &environment)
    }

    /// The same for a session that plays: nobody looks at the key.
    pub(super) fn played(suite: &Suite, model: &Spanned<Model>) -> Result<Self, LiveError> {
        let is_address = |name: &str| KNOWN.iter().any(|known| known.base_url_variable == name);
        Self::resolve(suite, model, &|name| {
            (!is_address(name)).then(|| "played".to_owned())
        })
    }

    /// Where a session passes requests on to.
    pub(super) fn upstream(&self) -> Result<Upstream, LiveError> {
        let upstream = Upstream::new(self.format.provider(), &self.base_url);
        upstream.map_err(|error| LiveError::new(error.to_string()))
    }

    fn resolve(
        suite: &Suite,
        model: &Spanned<Model>,
        environment: Environment<'_>,
    ) -> Result<Self, LiveError> {
        let id = &model.value.id;
        let known = match &model.value.provider {
            Some(name) => KNOWN
                .iter()
                .find(|known| known.names.contains(&name.as_str())),
            None => Some(known_by_model(suite, model)?),
        };
        let declared = suite.providers.iter().find(|provider| {
            let name = provider.name.value.as_str();
            match (&model.value.provider, known) {
                (Some(wanted), _) => name == wanted,
                (None, Some(known)) => known.names.contains(&name),
                (None, None) => false,
            }
        });
        if let Some(declared) = declared {
            let key = match &declared.api_key_env {
                Some(variable) => key(&[variable], id, model, environment)?,
                // A server on one's own machine needs none, but the protocol wants one.
                None => ("none".to_owned(), None),
            };
            // A provider that only the suite knows speaks OpenAI's format.
            let format = known.map_or(Format::Chat, |known| known.format);
            return Ok(Self {
                model: id.clone(),
                format,
                base_url: root(&declared.base_url, format),
                key: key.0,
                key_variable: key.1,
            });
        }
        let Some(known) = known else {
            return Err(unknown_provider(suite, model));
        };
        let (key, key_variable) = key(known.key_variables, id, model, environment)?;
        let base_url = environment(known.base_url_variable);
        Ok(Self {
            model: id.clone(),
            format: known.format,
            base_url: root(base_url.as_deref().unwrap_or(known.base_url), known.format),
            key,
            key_variable,
        })
    }
}

/// The provider whose models begin as this one does.
fn known_by_model(suite: &Suite, model: &Spanned<Model>) -> Result<&'static Known, LiveError> {
    let id = model.value.id.as_str();
    let reasons = id
        .strip_prefix('o')
        .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
    let found = KNOWN.iter().find(|known| {
        known.prefixes.iter().any(|prefix| id.starts_with(prefix))
            || (reasons && known.names.contains(&"openai"))
    });
    found.ok_or_else(|| {
        let names = suite.providers.iter().map(|provider| provider.name.value.as_str());
        let names: Vec<&str> = names.collect();
        let say = |name: &str| format!("name its provider: `model: {{ provider: {name}, id: {id} }}`");
        let help = match names.as_slice() {
            [] => format!("{}, and write the provider's `base_url` under `providers:`", say("local")),
            [only] => say(only),
            several => format!("{}; declared: {}", say(several[0]), quoted_list(several.iter().copied())),
        };
        LiveError::new(format!("`{id}` is no model of a known provider"))
            .at(model.span)
            .note("the harness knows the provider of models that begin with `claude-`, `gpt-`, `o` and a digit, `gemini-` or `mistral-`")
            .help(help)
    })
}

fn unknown_provider(suite: &Suite, model: &Spanned<Model>) -> LiveError {
    let wanted = model.value.provider.as_deref().unwrap_or_default();
    let declared = suite
        .providers
        .iter()
        .map(|provider| provider.name.value.as_str());
    let built_in = KNOWN.iter().flat_map(|known| known.names).copied();
    let names: Vec<&str> = declared.chain(built_in).collect();
    let problem = LiveError::new(format!("unknown provider `{wanted}`")).at(model.span);
    match nearest(wanted, names.iter().copied()) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem.help(format!(
            "declare it under `providers:` with its `base_url`; known: {}",
            quoted_list(names.iter().copied())
        )),
    }
}

/// The first of some variables that is set, and its name.
fn key(
    variables: &[impl AsRef<str>],
    id: &str,
    model: &Spanned<Model>,
    environment: Environment<'_>,
) -> Result<(String, Option<String>), LiveError> {
    let mut names = variables.iter().map(AsRef::as_ref);
    let found = names.find_map(|name| Some((environment(name)?, Some(name.to_owned()))));
    found.ok_or_else(|| {
        let names: Vec<String> = variables
            .iter()
            .map(|name| format!("`{}`", name.as_ref()))
            .collect();
        LiveError::new(format!(
            "no key for `{id}`: {} is not set",
            names.join(" or ")
        ))
        .at(model.span)
        .help(format!(
            "set `{}` in the environment, and run the same command again",
            variables[0].as_ref()
        ))
    })
}

/// The root of an API with a slash at the end. Anthropic's libraries take it without the version.
fn root(url: &str, format: Format) -> String {
    let url = url.trim_end_matches('/');
    if format == Format::Anthropic && !url.ends_with("/v1") {
        return format!("{url}/v1/");
    }
    format!("{url}/")
}

impl std::fmt::Debug for ModelEndpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelEndpoint")
            .field("model", &self.model)
            .field("format", &self.format)
            .field("base_url", &self.base_url)
            .field("key_variable", &self.key_variable)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcptest_suite::{Source, Style};

    /// What a model resolves to in a suite, with some variables set.
    fn resolve(top: &str, model: &str, set: &[(&str, &str)]) -> Result<ModelEndpoint, LiveError> {
        let text = format!(
            "{top}\nagents: [{{ name: a, model: {model}, prompt: x, expect: [{{ target: a, matcher: is-json }}] }}]"
        );
        let suite = Suite::parse(Source::new("a.yml", "a.yml", text))
            .map_err(|error| error.render(Style::Plain))
            .unwrap();
        let environment = |name: &str| {
            let found = set.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        ModelEndpoint::resolve(&suite, &suite.agents[0].models[0], &environment)
    }

    fn format_of(model: &str) -> Option<Format> {
        let keys =
            ["ANTHROPIC", "OPENAI", "GEMINI", "MISTRAL"].map(|name| format!("{name}_API_KEY"));
        let set: Vec<(&str, &str)> = keys.iter().map(|key| (key.as_str(), "k")).collect();
        resolve("", model, &set)
            .ok()
            .map(|provider| provider.format)
    }

    #[test]
    fn a_model_is_known_by_how_its_name_begins() {
        for (model, format) in [
            ("claude-sonnet-4-5", Format::Anthropic),
            ("gpt-4o", Format::Chat),
            ("gpt-5", Format::Chat),
            ("o3-mini", Format::Chat),
            ("chatgpt-4o-latest", Format::Chat),
            ("gemini-2.5-flash", Format::Gemini),
            ("mistral-large-latest", Format::Chat),
            ("open-mixtral-8x22b", Format::Chat),
        ] {
            assert_eq!(format_of(model), Some(format), "{model}");
        }
        for model in ["llama-3", "opus", "o", "claude", "my-gpt-4"] {
            assert_eq!(format_of(model), None, "{model}");
        }
    }

    #[test]
    fn a_session_that_plays_needs_no_key_and_no_address() {
        let text = "agents: [{ name: a, model: gemini-2.5-pro, prompt: x, narrative: {} }]";
        let suite = Suite::parse(Source::new("a.yml", "a.yml", text)).unwrap();
        let played = ModelEndpoint::played(&suite, &suite.agents[0].models[0]).unwrap();
        assert_eq!(
            (played.key.as_str(), played.format),
            ("played", Format::Gemini)
        );
    }

    #[test]
    fn a_missing_key_is_named() {
        let error = resolve("", "gemini-2.5-pro", &[]).unwrap_err();
        assert_eq!(
            error.problem,
            "no key for `gemini-2.5-pro`: `GEMINI_API_KEY` or `GOOGLE_API_KEY` is not set"
        );
        let error = resolve(
            "providers: { local: { base_url: http://localhost:1/v1, api_key_env: LOCAL_KEY } }",
            "{ provider: local, id: llama }",
            &[],
        )
        .unwrap_err();
        assert_eq!(error.problem, "no key for `llama`: `LOCAL_KEY` is not set");
    }

    #[test]
    fn an_unknown_model_is_an_error_that_says_how_to_name_its_provider() {
        let error = resolve("", "llama-3", &[]).unwrap_err();
        assert_eq!(error.problem, "`llama-3` is no model of a known provider");
        let help = error.help.unwrap();
        assert!(
            help.contains("`model: { provider: local, id: llama-3 }`"),
            "{help}"
        );
        let top = "providers: { vllm: { base_url: http://localhost:8000/v1 } }";
        let help = resolve(top, "llama-3", &[]).unwrap_err().help.unwrap();
        assert!(help.contains("{ provider: vllm, id: llama-3 }"), "{help}");
    }

    #[test]
    fn an_unknown_provider_is_an_error_with_the_nearest_name() {
        let error = resolve("", "{ provider: antropic, id: claude-x }", &[]).unwrap_err();
        assert_eq!(error.problem, "unknown provider `antropic`");
        assert_eq!(error.help.unwrap(), "did you mean `anthropic`?");
    }

    #[test]
    fn a_declared_provider_speaks_the_openai_protocol_and_may_need_no_key() {
        let top = "providers: { vllm: { base_url: http://localhost:8000/v1 } }";
        let provider = resolve(top, "{ provider: vllm, id: gpt-oss }", &[]).unwrap();
        assert_eq!(provider.format, Format::Chat);
        assert_eq!(provider.base_url, "http://localhost:8000/v1/");
        assert_eq!(provider.key_variable, None);
    }

    #[test]
    fn a_declared_provider_with_a_known_name_is_that_provider_elsewhere() {
        let top = "providers: { anthropic: { base_url: http://proxy:1, api_key_env: PROXY_KEY } }";
        let provider = resolve(top, "claude-sonnet-4-5", &[("PROXY_KEY", "k")]).unwrap();
        assert_eq!(provider.format, Format::Anthropic);
        assert_eq!(provider.base_url, "http://proxy:1/v1/");
        assert_eq!(provider.key_variable.as_deref(), Some("PROXY_KEY"));
    }

    #[test]
    fn the_environment_may_name_another_root() {
        let set = [
            ("OPENAI_API_KEY", "k"),
            ("OPENAI_BASE_URL", "http://127.0.0.1:9/v1"),
        ];
        assert_eq!(
            resolve("", "gpt-4o", &set).unwrap().base_url,
            "http://127.0.0.1:9/v1/"
        );
        let set = [
            ("ANTHROPIC_API_KEY", "k"),
            ("ANTHROPIC_BASE_URL", "http://127.0.0.1:9/"),
        ];
        let provider = resolve("", "claude-sonnet-4-5", &set).unwrap();
        assert_eq!(provider.base_url, "http://127.0.0.1:9/v1/");
    }

    #[test]
    fn the_key_is_not_shown_by_debug() {
        let provider = resolve("", "gpt-4o", &[("OPENAI_API_KEY", "sk-secret")]).unwrap();
        assert!(!format!("{provider:?}").contains("sk-secret"));
    }
}
