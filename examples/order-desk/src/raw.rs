//! A server that writes its answers byte by byte, for what no library would write.

use std::io::{self, BufRead as _, Write as _};
use std::process::{Command, ExitCode, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

/// What a raw server does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Raw {
    /// Gives `NaN` in a tool result, which JSON has not.
    Nan,
    /// Gives a byte of Latin-1 in a tool result.
    Latin,
    /// Gives half of a surrogate pair in a tool result.
    Surrogate,
    /// Nests a tool result too deep.
    Deep,
    /// Gives `{}` for a tool result.
    Empty,
    /// Gives text where a tool result has a list.
    TextContent,
    /// Gives a block of content of an unknown type.
    UnknownType,
    /// Gives a block of content for an unknown audience.
    UnknownAudience,
    /// Lists `find_order` without an input schema.
    NoInputSchema,
    /// Leaves at the first `tools/call`, while a helper of its keeps standard output open.
    DeadWithHelper,
    /// Gives its environment as a tool result.
    Environment,
    /// Describes `find_order` with the time at which it was started.
    Clock,
    /// Says of `find_order` that it only reads.
    ReadOnly,
    /// The same, and describes it with the time at which it was started.
    ReadOnlyClock,
    /// Gives the message that it got, and a number beyond 64 bits.
    Echo,
}

impl Raw {
    /// All of them, by the names of the command line.
    pub const ALL: [(&'static str, Self); 15] = [
        ("nan", Self::Nan),
        ("latin", Self::Latin),
        ("surrogate", Self::Surrogate),
        ("deep", Self::Deep),
        ("empty", Self::Empty),
        ("text-content", Self::TextContent),
        ("unknown-type", Self::UnknownType),
        ("unknown-audience", Self::UnknownAudience),
        ("no-input-schema", Self::NoInputSchema),
        ("dead-with-helper", Self::DeadWithHelper),
        ("environment", Self::Environment),
        ("clock", Self::Clock),
        ("read-only", Self::ReadOnly),
        ("read-only-clock", Self::ReadOnlyClock),
        ("echo", Self::Echo),
    ];

    /// Serves until standard input ends.
    ///
    /// # Errors
    ///
    /// Standard input or output cannot be used.
    pub fn serve(self) -> io::Result<ExitCode> {
        let started = SystemTime::now().duration_since(UNIX_EPOCH);
        let started = started.unwrap_or_default().as_nanos();
        for line in io::stdin().lock().lines() {
            let line = line?;
            let request: Value = serde_json::from_str(&line)?;
            let (Some(method), Some(id)) = (request["method"].as_str(), request.get("id")) else {
                continue;
            };
            let result = match method {
                "initialize" => json!({
                    "protocolVersion": request["params"]["protocolVersion"],
                    "capabilities": { "tools": {} },
                    "serverInfo": { "name": "raw-desk", "version": "1" },
                })
                .to_string()
                .into_bytes(),
                "tools/list" => self.tools(started).to_string().into_bytes(),
                "tools/call" if self == Self::DeadWithHelper => {
                    Command::new("sleep")
                        .arg("600")
                        .stdin(Stdio::null())
                        .spawn()?;
                    return Ok(ExitCode::from(3));
                }
                "tools/call" => self.result(&line),
                _ => b"{}".to_vec(),
            };
            let mut answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#).into_bytes();
            answer.extend(result);
            answer.extend(b"}\n");
            let mut stdout = io::stdout().lock();
            stdout.write_all(&answer)?;
            stdout.flush()?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn tools(self, started: u128) -> Value {
        let mut tool = json!({
            "name": "find_order",
            "description": "Finds an order.",
            "inputSchema": { "type": "object", "properties": { "order_id": { "type": "string" } } },
        });
        if let (Self::NoInputSchema, Some(tool)) = (self, tool.as_object_mut()) {
            tool.remove("inputSchema");
        }
        if matches!(self, Self::Clock | Self::ReadOnlyClock) {
            tool["description"] = format!("Finds an order. Up since {started}.").into();
        }
        if matches!(self, Self::ReadOnly | Self::ReadOnlyClock) {
            tool["annotations"] = json!({ "readOnlyHint": true });
        }
        json!({ "tools": [tool] })
    }

    fn result(self, message: &str) -> Vec<u8> {
        let text = |text: &str| json!({ "content": [{ "type": "text", "text": text }] });
        match self {
            Self::Nan => br#"{"content":[{"type":"text","text":"Ada"}],"structuredContent":{"total":NaN}}"#.to_vec(),
            Self::Latin => b"{\"content\":[{\"type\":\"text\",\"text\":\"caf\xe9\"}]}".to_vec(),
            Self::Surrogate => br#"{"content":[{"type":"text","text":"\ud83d"}]}"#.to_vec(),
            Self::Deep => format!(r#"{{"structuredContent":{}{}}}"#, "[".repeat(500), "]".repeat(500)).into_bytes(),
            Self::Empty => b"{}".to_vec(),
            Self::TextContent => br#"{"content":"It is Ada's."}"#.to_vec(),
            Self::UnknownType => br#"{"content":[{"type":"hologram","data":"QQ=="}]}"#.to_vec(),
            Self::UnknownAudience => {
                br#"{"content":[{"type":"text","text":"Ada","annotations":{"audience":["auditor"]}}]}"#.to_vec()
            }
            Self::Environment => {
                let mut lines: Vec<String> =
                    std::env::vars().map(|(name, value)| format!("{name}={value}")).collect();
                lines.sort();
                text(&lines.join("\n")).to_string().into_bytes()
            }
            Self::Echo => {
                let said = text(message)["content"].to_string();
                format!(r#"{{"content":{said},"structuredContent":{{"total":-18446744073709551617}}}}"#).into_bytes()
            }
            Self::NoInputSchema
            | Self::DeadWithHelper
            | Self::Clock
            | Self::ReadOnly
            | Self::ReadOnlyClock => text("Ada").to_string().into_bytes(),
        }
    }
}
