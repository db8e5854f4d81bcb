//! Requests to AWS. A client signs a request for the address that it has, which is that of the session. So the session signs
//! it again, for the address to which it goes, or puts an API key of Bedrock in its place where there is one.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign as sign_http};
use aws_sigv4::sign::v4::SigningParams;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName};
use axum::http::{HeaderValue, Method};

use crate::driver::API_KEY;
use crate::endpoint::Upstream;

/// The name that the signature has which is signed again.
const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// What the names of all signatures of AWS begin with.
const SIGNED: &str = "AWS4-";

/// Headers of a signature.
const OF_SIGNATURE: [HeaderName; 3] = [
    AUTHORIZATION,
    HeaderName::from_static("x-amz-date"),
    HeaderName::from_static("x-amz-security-token"),
];

/// Where addresses of AWS end.
const HOSTS: [&str; 3] = [".amazonaws.com", ".amazonaws.com.cn", ".api.aws"];

/// What to do where a request cannot be signed again.
const HINT: &str = "export AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN for `mcptest` and the agent (for example \
    `eval \"$(aws configure export-credentials --format env)\"`), or set AWS_BEARER_TOKEN_BEDROCK to an API key of Bedrock";

/// Who signed a request, and for what.
#[derive(Debug, PartialEq, Eq)]
struct Scope<'h> {
    key: &'h str,
    region: &'h str,
    service: &'h str,
}

fn scope(headers: &HeaderMap) -> Option<Scope<'_>> {
    let signature = login(headers)?.strip_prefix(ALGORITHM)?;
    let mut fields = signature.split([',', ' ']);
    let credential = fields.find_map(|field| field.trim().strip_prefix("Credential="))?;
    let parts: Vec<&str> = credential.split('/').collect();
    let [key, _day, region, service, "aws4_request"] = parts[..] else {
        return None;
    };
    Some(Scope {
        key,
        region,
        service,
    })
}

fn login(headers: &HeaderMap) -> Option<&str> {
    headers.get(AUTHORIZATION)?.to_str().ok()
}

/// The region for which a request is meant: that of its signature, else that of the environment. An API key names none.
pub(super) fn region(
    headers: &HeaderMap,
    variable: impl Fn(&str) -> Option<String>,
) -> Option<String> {
    let is_region = |name: &&str| {
        let sign = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        (1..40).contains(&name.len()) && name.bytes().all(sign)
    };
    let signed = scope(headers).map(|scope| scope.region).filter(is_region);
    signed.map(str::to_owned).or_else(|| {
        let names = ["AWS_REGION", "AWS_DEFAULT_REGION"];
        let mut values = names.iter().filter_map(|name| variable(name));
        values.find(|value| is_region(&value.as_str()))
    })
}

/// The address of a provider in the region of a request.
pub(super) fn in_region<'u>(
    upstream: &'u Upstream,
    region: Option<&str>,
) -> Result<Cow<'u, Upstream>, AwsError> {
    match region {
        _ if !upstream.is_regional() => Ok(Cow::Borrowed(upstream)),
        Some(region) => Ok(Cow::Owned(upstream.in_region(region))),
        None => Err(AwsError::UnknownRegion {
            provider: upstream.provider().name,
        }),
    }
}

/// Signs a request again, where it is signed at all.
///
/// # Errors
///
/// The request goes to AWS, and cannot be signed: AWS would refuse it. What to do.
pub(super) fn sign(
    method: &Method,
    url: &str,
    headers: &mut HeaderMap,
    body: &[u8],
    variable: impl Fn(&str) -> Option<String>,
) -> Result<(), AwsError> {
    if !login(headers).is_some_and(|login| login.starts_with(SIGNED)) {
        return Ok(());
    }
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    if let Some(mut bearer) = set(API_KEY).and_then(|key| bearer(&key)) {
        for name in &OF_SIGNATURE {
            headers.remove(name);
        }
        bearer.set_sensitive(true);
        headers.insert(AUTHORIZATION, bearer);
        return Ok(());
    }
    let own = set("AWS_ACCESS_KEY_ID").zip(set("AWS_SECRET_ACCESS_KEY"));
    let problem = match (scope(headers), own) {
        (None, _) => AwsError::UnknownSignature,
        (Some(_), None) => AwsError::NoKeys,
        (Some(scope), Some((key, _))) if scope.key != key => AwsError::OtherKey,
        (Some(scope), Some((key, secret))) => {
            let credentials =
                Credentials::new(key, secret, set("AWS_SESSION_TOKEN"), None, "environment");
            let (region, service) = (scope.region.to_owned(), scope.service.to_owned());
            let signed = signed(method, url, headers, body, (credentials, &region, &service));
            return match signed {
                Ok(signed) => {
                    for name in &OF_SIGNATURE {
                        headers.remove(name);
                    }
                    headers.extend(signed);
                    Ok(())
                }
                Err(error) => Err(AwsError::Signing(error)),
            };
        }
    };
    // Another server than AWS may not look at the signature.
    let is_aws = host(url).is_some_and(|host| HOSTS.iter().any(|end| host.ends_with(end)));
    if is_aws { Err(problem) } else { Ok(()) }
}

fn bearer(key: &str) -> Option<HeaderValue> {
    HeaderValue::from_str(&format!("Bearer {key}")).ok()
}

fn host(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    host.split(':').next()
}

type SigningError = Box<dyn Error + Send + Sync>;

/// Why a request cannot be sent to AWS.
#[derive(Debug)]
pub(super) enum AwsError {
    /// The region of a provider is not known.
    UnknownRegion { provider: &'static str },
    /// The signature of the agent has an unknown form.
    UnknownSignature,
    /// There are no keys to sign it with.
    NoKeys,
    /// The agent signed it with another key.
    OtherKey,
    /// The request or the keys cannot be used.
    Signing(SigningError),
}

impl fmt::Display for AwsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = match self {
            Self::UnknownSignature => {
                "the session cannot sign the request again as the agent signed it"
            }
            Self::NoKeys => {
                "the agent signed the request for the address of the session, and AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are \
                 not set, so the session cannot sign it for AWS"
            }
            Self::OtherKey => {
                "the agent signed the request with another key than AWS_ACCESS_KEY_ID, so the session cannot sign it for AWS"
            }
            Self::Signing(error) => {
                return write!(f, "the request cannot be signed for AWS: {error}");
            }
            Self::UnknownRegion { provider } => {
                return write!(
                    f,
                    "the region of `{provider}` is not known; set AWS_REGION to it"
                );
            }
        };
        write!(f, "{problem}; {HINT}")
    }
}

impl Error for AwsError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Signing(error) => Some(error.as_ref()),
            Self::UnknownRegion { .. } | Self::UnknownSignature | Self::NoKeys | Self::OtherKey => {
                None
            }
        }
    }
}

/// The headers of a new signature.
fn signed(
    method: &Method,
    url: &str,
    headers: &HeaderMap,
    body: &[u8],
    (credentials, region, service): (Credentials, &str, &str),
) -> Result<Vec<(HeaderName, HeaderValue)>, SigningError> {
    let identity = credentials.into();
    let params = SigningParams::builder()
        .identity(&identity)
        .region(region)
        .name(service)
        .time(SystemTime::now())
        .settings(SigningSettings::default())
        .build()?;
    let is_covered = |name: &HeaderName| {
        *name == CONTENT_TYPE || name.as_str().starts_with("x-amz") && !OF_SIGNATURE.contains(name)
    };
    let covered = headers.iter().filter(|(name, _)| is_covered(name));
    let covered: Vec<(&str, &str)> = covered
        .filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
        .collect();
    let request = SignableRequest::new(
        method.as_str(),
        url,
        covered.into_iter(),
        SignableBody::Bytes(body),
    )?;
    let (instructions, _) = sign_http(request, &params.into())?.into_parts();
    let header = |(name, value): (&str, &str)| {
        let mut value = HeaderValue::from_str(value)?;
        value.set_sensitive(true);
        Ok((HeaderName::from_bytes(name.as_bytes())?, value))
    };
    instructions.headers().map(header).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGIN: &str = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261128/eu-west-3/bedrock/aws4_request, \
                         SignedHeaders=content-type;host;x-amz-date, Signature=0000";

    fn headers(login: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, HeaderValue::from_static(login));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert("x-amz-date", HeaderValue::from_static("20261128T000000Z"));
        headers.insert(
            "x-amz-security-token",
            HeaderValue::from_static("old-token"),
        );
        headers
    }

    fn none(_: &str) -> Option<String> {
        None
    }

    fn keys(name: &str) -> Option<String> {
        let value = match name {
            "AWS_ACCESS_KEY_ID" => "AKIDEXAMPLE",
            "AWS_SECRET_ACCESS_KEY" => "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
            "AWS_SESSION_TOKEN" => "new-token",
            "AWS_REGION" => "us-east-1",
            _ => return None,
        };
        Some(value.to_owned())
    }

    const AT_AWS: &str =
        "https://bedrock-runtime.eu-west-3.amazonaws.com/model/a.b-v1%3A0/converse";

    fn again(
        url: &str,
        headers: &mut HeaderMap,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<(), AwsError> {
        sign(&Method::POST, url, headers, b"{}", variable)
    }

    #[test]
    fn a_request_is_signed_again_for_its_region_with_the_keys_of_the_environment() {
        let mut all = headers(LOGIN);
        again(AT_AWS, &mut all, keys).unwrap();
        let login = login(&all).unwrap().to_owned();
        assert!(login.contains("/eu-west-3/bedrock/aws4_request"), "{login}");
        assert!(
            login.contains("SignedHeaders=content-type;host;x-amz-date;x-amz-security-token"),
            "{login}"
        );
        assert!(!login.contains("Signature=0000"), "{login}");
        assert_eq!(all["x-amz-security-token"], "new-token");
        assert_ne!(all["x-amz-date"], "20261128T000000Z");
        assert_eq!(all.get_all(AUTHORIZATION).iter().count(), 1);
        // The signature is of the address, too.
        let mut other = headers(LOGIN);
        again(
            "https://bedrock-runtime.eu-west-1.amazonaws.com/model/a/converse",
            &mut other,
            keys,
        )
        .unwrap();
        assert_ne!(super::login(&other), Some(login.as_str()));
    }

    #[test]
    fn an_api_key_goes_on_as_it_is() {
        let mut all = headers("Bearer bedrock-api-key-1");
        let before = all.clone();
        again(AT_AWS, &mut all, keys).unwrap();
        assert_eq!(all, before);
        assert_eq!(region(&all, keys).as_deref(), Some("us-east-1"));
    }

    #[test]
    fn an_api_key_of_the_environment_takes_the_place_of_a_signature() {
        let mut all = headers(LOGIN);
        again(AT_AWS, &mut all, |name| {
            (name == API_KEY).then(|| "bedrock-api-key-1".to_owned())
        })
        .unwrap();
        assert_eq!(login(&all), Some("Bearer bedrock-api-key-1"));
        assert!(!all.contains_key("x-amz-security-token"));
    }

    #[test]
    fn what_cannot_be_signed_again_does_not_go_to_aws_and_says_what_to_do() {
        let other = |name: &str| match name {
            "AWS_ACCESS_KEY_ID" => Some("AKIDOTHER".to_owned()),
            name => keys(name),
        };
        let told = |headers: &mut HeaderMap, variable: &dyn Fn(&str) -> Option<String>| {
            again(AT_AWS, headers, variable).unwrap_err().to_string()
        };
        let missing = told(&mut headers(LOGIN), &none);
        assert_eq!(
            missing,
            "the agent signed the request for the address of the session, and AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are \
             not set, so the session cannot sign it for AWS; export AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and \
             AWS_SESSION_TOKEN for `mcptest` and the agent (for example `eval \"$(aws configure export-credentials --format \
             env)\"`), or set AWS_BEARER_TOKEN_BEDROCK to an API key of Bedrock"
        );
        let differs = told(&mut headers(LOGIN), &other);
        assert!(
            differs.starts_with(
                "the agent signed the request with another key than AWS_ACCESS_KEY_ID, "
            ),
            "{differs}"
        );
        let odd = told(&mut headers("AWS4-ECDSA-P256-SHA256 Credential=A"), &keys);
        assert!(
            odd.starts_with("the session cannot sign the request again as the agent signed it; "),
            "{odd}"
        );
        // A server that is not AWS decides itself.
        for variable in [&none as &dyn Fn(&str) -> Option<String>, &other] {
            let mut all = headers(LOGIN);
            again("http://127.0.0.1:4566/model/a/converse", &mut all, variable).unwrap();
            assert_eq!(all, headers(LOGIN));
        }
        let mut all = headers(LOGIN);
        assert!(again("https://amazonaws.com.example/x", &mut all, none).is_ok());
    }

    #[test]
    fn the_region_is_that_of_the_signature() {
        assert_eq!(region(&headers(LOGIN), keys).as_deref(), Some("eu-west-3"));
        assert_eq!(
            region(&HeaderMap::new(), keys).as_deref(),
            Some("us-east-1")
        );
        assert_eq!(region(&HeaderMap::new(), none), None);
        let odd = |name: &str| (name == "AWS_REGION").then(|| "a.example/".to_owned());
        assert_eq!(region(&HeaderMap::new(), odd), None);
        let default = Upstream::from_environment(none).unwrap();
        let bedrock = default
            .iter()
            .find(|own| own.provider().name == "bedrock")
            .unwrap();
        let placed = in_region(bedrock, Some("eu-west-3")).unwrap();
        assert_eq!(
            placed.url("/model/a/converse", None),
            "https://bedrock-runtime.eu-west-3.amazonaws.com/model/a/converse"
        );
        assert_eq!(
            in_region(bedrock, None).unwrap_err().to_string(),
            "the region of `bedrock` is not known; set AWS_REGION to it"
        );
        let own = Upstream::new("bedrock", "http://127.0.0.1:1").unwrap();
        assert_eq!(*in_region(&own, None).unwrap(), own);
    }
}
