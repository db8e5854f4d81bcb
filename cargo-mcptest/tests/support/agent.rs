//! The agent of a test, which is the test's own executable, started as a program once more.

use serde_json::Value;

/// The words that start one test of this executable as a program.
pub(crate) fn program(test: &str) -> Vec<String> {
    let executable = std::env::current_exe().unwrap().display().to_string();
    let words = [&executable, "--exact", test, "--ignored", "--nocapture"];
    words.map(str::to_owned).to_vec()
}

/// Sends a request in the format of Chat Completions to the address that the agent was given.
///
/// # Errors
///
/// The address answered an error, or nothing.
pub(crate) fn request(body: &Value) -> Result<Value, ureq::Error> {
    let base = std::env::var("OPENAI_BASE_URL").unwrap();
    let key = std::env::var("OPENAI_API_KEY").unwrap_or_default();
    let mut answer = ureq::post(format!("{base}/chat/completions"))
        .header("content-type", "application/json")
        .header("authorization", format!("Bearer {key}"))
        .send(body.to_string())?;
    let text = answer.body_mut().read_to_string()?;
    Ok(serde_json::from_str(&text).unwrap())
}

/// The message with which the model answers a request.
pub(crate) fn ask(body: &Value) -> Value {
    request(body).unwrap()["choices"][0]["message"].clone()
}
