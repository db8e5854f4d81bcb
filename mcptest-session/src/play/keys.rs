//! Keys of model providers in the environment: a played agent sees a placeholder, so that no real key can leave.

use mcptest_trace::record::environment::is_secret;

use crate::driver::API_KEY;
use crate::protocol::Provider;

/// What stands in place of a key.
const PLACEHOLDER: &str = "mcptest-plays";

/// The key of providers that speak the format of another one, without which their clients do not start.
const OF_OTHERS: [&str; 1] = ["MISTRAL_API_KEY"];

/// What the names of variables begin with that hold keys of model providers.
const PROVIDERS: [&str; 26] = [
    "ANTHROPIC",
    "AWS",
    "AZURE",
    "BEDROCK",
    "CEREBRAS",
    "CLAUDE",
    "CODEX",
    "COHERE",
    "DASHSCOPE",
    "DEEPSEEK",
    "FIREWORKS",
    "GEMINI",
    "GOOGLE",
    "GROQ",
    "HF",
    "HUGGING",
    "LLM",
    "MISTRAL",
    "MOONSHOT",
    "OLLAMA",
    "OPENAI",
    "OPENROUTER",
    "PERPLEXITY",
    "TOGETHER",
    "VERTEX",
    "XAI",
];

/// The variables of these names, with a placeholder each.
pub(super) fn placeholders(names: impl Iterator<Item = String>) -> Vec<(String, String)> {
    let is_key = |name: &String| {
        let upper = name.to_ascii_uppercase();
        PROVIDERS.iter().any(|provider| upper.starts_with(provider)) && is_secret(name)
    };
    // Clients do not send this one over HTTP, and sign without it.
    let names = names.filter(|name| name != API_KEY);
    let mut names: Vec<String> = names.filter(is_key).collect();
    let keys = Provider::all().flat_map(|provider| provider.keys);
    let keys = keys.chain(&OF_OTHERS).map(|name| (*name).to_owned());
    names.extend(keys);
    names.sort_unstable();
    names.dedup();
    let names = names.into_iter();
    names.map(|name| (name, PLACEHOLDER.to_owned())).collect()
}

/// The region that clients of AWS are given where the recording names none.
const REGION: &str = "us-east-1";

/// What clients of AWS do not start without: a key that signs, and a region. `region` is that of the recording, as code may
/// derive the name of its model from it. These variables log in to all of AWS, so only an agent has them that was recorded
/// with a model of Bedrock.
pub(super) fn of_aws(region: Option<&str>) -> impl Iterator<Item = (String, String)> {
    let variables = [
        ("AWS_ACCESS_KEY_ID", PLACEHOLDER),
        ("AWS_SECRET_ACCESS_KEY", PLACEHOLDER),
        ("AWS_REGION", region.unwrap_or(REGION)),
        ("AWS_DEFAULT_REGION", region.unwrap_or(REGION)),
    ];
    let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    variables.map(own).into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_providers_are_replaced_and_nothing_else() {
        let names = [
            "GROQ_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "DATABASE_PASSWORD",
            "OPENAI_MODEL",
        ];
        let replaced = placeholders(names.map(str::to_owned).into_iter());
        let has = |name: &str| {
            replaced
                .iter()
                .any(|(own, value)| own == name && value == PLACEHOLDER)
        };
        assert!(has("GROQ_API_KEY") && has("ANTHROPIC_AUTH_TOKEN") && has("OPENAI_API_KEY"));
        assert!(!has("DATABASE_PASSWORD") && !has("OPENAI_MODEL"));
    }
}
