//! Runs the order desk over stdio, or over HTTP with `--http`.

#![forbid(unsafe_code)]

use std::{
    io::{self, Write},
    process::ExitCode,
};

use order_desk::{DeskServer, Misbehaviour, Raw, misbehave, router};
use rmcp::{ServiceExt, transport::stdio};
use tokio::net::TcpListener;

const USAGE: &str = "\
usage: order-desk                                      serve over stdio
       order-desk --http ADDRESS [--bearer-env NAME]   serve over HTTP at /mcp
       order-desk --misbehave HOW [--secret-env NAME]  go wrong over stdio
       order-desk --raw HOW                            answer over stdio with what no library writes";

#[derive(Debug, PartialEq)]
enum Mode {
    Stdio,
    Http {
        address: String,
        bearer: Option<String>,
    },
    Misbehave {
        how: Misbehaviour,
        secret: String,
    },
    Raw(Raw),
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let env = |name: &str| std::env::var(name).ok();
    let mode = match mode(std::env::args().skip(1), env) {
        Ok(mode) => mode,
        Err(message) => {
            eprintln!("order-desk: {message}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    run(mode).await.unwrap_or_else(|error| {
        eprintln!("order-desk: {error}");
        ExitCode::FAILURE
    })
}

async fn run(mode: Mode) -> io::Result<ExitCode> {
    match mode {
        Mode::Stdio => {
            let running = DeskServer::default().serve(stdio()).await;
            let running = running.map_err(io::Error::other)?;
            running.waiting().await.map_err(io::Error::other)?;
        }
        Mode::Http { address, bearer } => {
            let listener = TcpListener::bind(&address).await?;
            let mut stdout = io::stdout();
            writeln!(stdout, "listening on http://{}/mcp", listener.local_addr()?)?;
            stdout.flush()?;
            axum::serve(listener, router(bearer)).await?;
        }
        Mode::Misbehave { how, secret } => return misbehave(how, secret).await,
        Mode::Raw(raw) => return raw.serve(),
    }
    Ok(ExitCode::SUCCESS)
}

fn mode(
    mut args: impl Iterator<Item = String>,
    env: impl Fn(&str) -> Option<String>,
) -> Result<Mode, String> {
    let (mut http, mut bearer_env, mut how, mut secret_env) = (None, None, None, None);
    let mut raw = None;
    while let Some(flag) = args.next() {
        let place = match flag.as_str() {
            "--http" => &mut http,
            "--bearer-env" => &mut bearer_env,
            "--misbehave" => &mut how,
            "--secret-env" => &mut secret_env,
            "--raw" => &mut raw,
            _ => return Err(format!("unknown argument {flag:?}")),
        };
        *place = Some(args.next().ok_or_else(|| format!("{flag} needs a value"))?);
    }
    let read = |name: String| match env(&name) {
        Some(value) if !value.is_empty() => Ok(value),
        _ => Err(format!("the environment variable {name} is not set")),
    };
    if bearer_env.is_some() && http.is_none() {
        return Err("--bearer-env goes with --http only".to_owned());
    }
    let how: Option<Misbehaviour> = how.map(|how| how.parse()).transpose()?;
    if secret_env.is_some() != (how == Some(Misbehaviour::SecretEcho)) {
        return Err("--misbehave secret-echo and --secret-env go together".to_owned());
    }
    if let Some(name) = raw {
        let known = Raw::ALL.into_iter().find(|(known, _)| *known == name);
        let known = known.map(|(_, raw)| Mode::Raw(raw));
        return known.ok_or_else(|| format!("no raw server {name:?}"));
    }
    match (http, how) {
        (Some(_), Some(_)) => Err("--misbehave goes with stdio only".to_owned()),
        (Some(address), None) => Ok(Mode::Http {
            address,
            bearer: bearer_env.map(read).transpose()?,
        }),
        (None, Some(how)) => Ok(Mode::Misbehave {
            how,
            secret: secret_env.map_or(Ok(String::new()), read)?,
        }),
        (None, None) => Ok(Mode::Stdio),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Mode, String> {
        let env = |name: &str| (name == "KEY").then(|| "s3cret".to_owned());
        mode(line.split_whitespace().map(str::to_owned), env)
    }

    #[test]
    fn flags_make_a_mode() {
        assert_eq!(parse(""), Ok(Mode::Stdio));
        let http = Mode::Http {
            address: "127.0.0.1:0".into(),
            bearer: Some("s3cret".into()),
        };
        assert_eq!(parse("--http 127.0.0.1:0 --bearer-env KEY"), Ok(http));
        let echo = Mode::Misbehave {
            how: Misbehaviour::SecretEcho,
            secret: "s3cret".into(),
        };
        assert_eq!(parse("--misbehave secret-echo --secret-env KEY"), Ok(echo));
    }

    #[test]
    fn wrong_flags_are_named() {
        for (line, message) in [
            ("--port 1", "unknown argument \"--port\""),
            ("--http", "--http needs a value"),
            ("--bearer-env KEY", "--bearer-env goes with --http only"),
            (
                "--http 127.0.0.1:0 --bearer-env NONE",
                "the environment variable NONE is not set",
            ),
            (
                "--misbehave secret-echo",
                "--misbehave secret-echo and --secret-env go together",
            ),
            (
                "--http 127.0.0.1:0 --misbehave hang",
                "--misbehave goes with stdio only",
            ),
        ] {
            assert_eq!(parse(line), Err(message.to_owned()), "{line}");
        }
        assert!(parse("--misbehave sing").unwrap_err().starts_with(
            "no misbehaviour \"sing\"; there are exit, exit-on-call, hang, hang-on-call"
        ));
    }
}
