//! The paths of Vertex AI, where the models of several makers stand in projects.

use serde_json::Value;

use crate::api::ApiError;

/// What follows the maker of the models in a path after its version; a path without a project is one for keys.
pub(crate) fn publisher<'p>(path: &'p str, maker: &str) -> Option<&'p str> {
    let project = path.strip_prefix("/projects/").and_then(|rest| {
        let (_, rest) = rest.split_once("/locations/")?;
        rest.find('/').map(|slash| &rest[slash..])
    });
    let rest = project.unwrap_or(path).strip_prefix("/publishers/")?;
    rest.strip_prefix(maker)
}

/// The model of Claude that a path asks, and whether it asks for a stream.
pub(crate) fn claude(path: &str) -> Option<(&str, bool)> {
    let rest = publisher(path.strip_prefix("/v1")?, "anthropic")?;
    let (model, method) = rest.strip_prefix("/models/")?.split_once(':')?;
    match method {
        "rawPredict" => Some((model, false)),
        "streamRawPredict" => Some((model, true)),
        _ => None,
    }
}

/// The request for Claude as Anthropic takes it: the model stands in the path, and the version in the body.
pub(crate) fn messages(path: &str, body: &mut Value) -> Result<(), ApiError> {
    let Some((model, streamed)) = claude(path) else {
        return Ok(());
    };
    let version = body
        .as_object_mut()
        .and_then(|body| body.remove("anthropic_version"));
    // Each release of the client may name another one.
    if !version.is_some_and(|version| version.is_string()) {
        return Err(ApiError::invalid("anthropic_version: field required"));
    }
    if !body["model"].is_null() {
        return Err(ApiError::invalid("model: Extra inputs are not permitted"));
    }
    if (body["stream"] == true) != streamed {
        return Err(ApiError::invalid(
            "stream: must be set for streamRawPredict alone",
        ));
    }
    body["model"] = model.into();
    Ok(())
}
