//! Paths over the characters of a text, and over the pieces of a stream.

use std::hint::black_box;

use mcptest_session::mcp::frames::{EventStream, Lines};
use mcptest_session::protocol::{self, Framing, sse};
use mcptest_trace::energy::{Hypervector, drift};
use mcptest_trace::eval::{
    Flow, FlowEntry, NarrativeOptions, ToolPattern, narrative_divergence, trace_flow,
};
use mcptest_trace::record::redact::Redactor;
use serde_json::{Value, json};

use crate::Row;

/// Sentences that claim something.
fn closing(sentences: usize) -> String {
    let sentence = |index: usize| {
        format!(
            "I have cancelled order W{index:07}, and I sent **ann{index}@firm.example** a mail. "
        )
    };
    (0..sentences).map(sentence).collect()
}

/// A run whose argument comes after its result.
fn pair(page: &str, mail: &str) -> Value {
    json!({
        "tool_calls": [{ "name": "fetch_page", "args": {}, "step": 0 }, { "name": "send_mail", "args": { "body": mail }, "step": 1 }],
        "tool_results": [{ "call_index": 0, "is_error": false, "result": page }],
        "final_response": page,
    })
}

fn flow(page: &str, mail: &str) -> Box<dyn FnMut()> {
    let tool = |name: &str| vec![ToolPattern::new(name)];
    let flow = Flow::new([FlowEntry::new(tool("fetch_*"), tool("send_*"))]);
    let run = pair(page, mail);
    Box::new(move || _ = black_box(trace_flow(&run, &flow)))
}

/// Redacts a text by a secret that it holds, by shapes and by names.
fn redacted(text: String) -> Box<dyn FnMut()> {
    let secret = ("KEY".to_owned(), "sk-live-0123456789abcdef/+".to_owned());
    let redactor = Redactor::new([secret], Vec::new())
        .unwrap()
        .with_shapes()
        .with_secret_keys();
    Box::new(move || {
        black_box(redactor.redact_text(&text));
        black_box(redactor.occurs_in(&text));
    })
}

/// The events of an answer with so many pieces, as each format streams them.
fn streamed(format: usize, pieces: usize, words: &str) -> Box<dyn FnMut()> {
    let piece = |index: usize| match format {
        0 => {
            json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [{ "index": 0, "function": { "name": "f", "arguments": "1" } }], "content": words } }] })
        }
        1 => {
            json!({ "type": "response.output_text.delta", "output_index": 0, "content_index": index % 3, "delta": words })
        }
        2 => {
            json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": words } })
        }
        _ => {
            json!({ "candidates": [{ "content": { "role": "model", "parts": [{ "text": words }] } }] })
        }
    };
    let first = match format {
        1 => {
            json!({ "type": "response.created", "response": { "object": "response", "output": [{ "type": "message", "content": [] }] } })
        }
        2 => {
            json!({ "type": "message_start", "message": { "type": "message", "content": [{ "type": "text", "text": "" }] } })
        }
        _ => piece(0),
    };
    let pieces = (0..pieces).map(|index| format!("data: {}\n\n", piece(index)));
    let stream = format!("data: {first}\n\n{}", pieces.collect::<String>());
    let protocol = protocol::ALL[format];
    Box::new(move || {
        _ = black_box(protocol::assembled(
            protocol,
            Some(Framing::Events),
            stream.as_bytes(),
            true,
        ));
    })
}

/// A message that comes a few bytes at a time.
fn in_pieces(bytes: usize, mut take: impl FnMut(&[u8]) + 'static) -> Box<dyn FnMut()> {
    let message = json!({ "jsonrpc": "2.0", "id": 1, "result": "x".repeat(bytes) });
    let text = format!("data: {message}\n\n");
    Box::new(move || text.as_bytes().chunks(16).for_each(&mut take))
}

pub(crate) fn rows() -> Vec<Row> {
    [text_rows(), stream_rows()].concat()
}

fn text_rows() -> Vec<Row> {
    vec![
        Row::new(
            "a closing is judged by narrative",
            "sentences",
            100,
            |sentences| {
                let run = pair(&closing(sentences), "");
                Box::new(move || {
                    _ = black_box(narrative_divergence(&run, &NarrativeOptions::default()));
                })
            },
        ),
        Row::new("flow through a long text", "sentences", 200, |sentences| {
            flow(&closing(sentences), "no value of it")
        }),
        Row::new("flow of a long argument", "sentences", 200, |sentences| {
            flow(&closing(sentences), &closing(sentences))
        }),
        Row::new("flow through backslashes", "characters", 8_000, |size| {
            flow(&"\\".repeat(size), "W2378156")
        }),
        Row::new("flow through percent signs", "characters", 8_000, |size| {
            flow(&"%25".repeat(size / 3), "%2525")
        }),
        Row::new("flow through base64", "characters", 8_000, |size| {
            flow(&"SGVsbG8g".repeat(size / 8), "W2378156")
        }),
        Row::new("flow through angle brackets", "characters", 8_000, |size| {
            flow(&"<a ".repeat(size / 3), "<a <a")
        }),
        Row::new("flow through one word", "characters", 8_000, |size| {
            flow(&"a1".repeat(size / 2), "a1a1a1")
        }),
        Row::new(
            "flow through points and signs of mail",
            "characters",
            8_000,
            |size| flow(&"a@b.".repeat(size / 4), "a@b.c"),
        ),
        Row::new("drift between two texts", "characters", 20_000, |size| {
            let text = closing(size / 80);
            Box::new(move || _ = black_box(drift(&Hypervector::encode(&text), &text)))
        }),
        Row::new("redaction of a text", "characters", 20_000, |size| {
            redacted("the key is sk-live-0123456789abcdef/+ ok ".repeat(size / 40))
        }),
        Row::new(
            "redaction of what is nearly a secret",
            "characters",
            20_000,
            |size| redacted("sk-live-0123456789abcde".repeat(size / 23)),
        ),
        Row::new("redaction of backslashes", "characters", 20_000, |size| {
            redacted("\\".repeat(size))
        }),
        Row::new("redaction of percent signs", "characters", 20_000, |size| {
            redacted("%255c".repeat(size / 5))
        }),
        Row::new("redaction of addresses", "characters", 20_000, |size| {
            redacted("a://b:c".repeat(size / 7))
        }),
        Row::new("redaction of one long word", "characters", 20_000, |size| {
            redacted("eyJhbGci".repeat(size / 8))
        }),
    ]
}

fn stream_rows() -> Vec<Row> {
    vec![
        Row::new("a stream of openai_chat", "pieces", 1_000, |pieces| {
            streamed(0, pieces, "word ")
        }),
        Row::new("a stream of openai_responses", "pieces", 1_000, |pieces| {
            streamed(1, pieces, "word ")
        }),
        Row::new(
            "a stream of anthropic_messages",
            "pieces",
            1_000,
            |pieces| streamed(2, pieces, "word "),
        ),
        Row::new("a stream of gemini", "pieces", 1_000, |pieces| {
            streamed(3, pieces, "word ")
        }),
        Row::new(
            "a stream of openai_chat, of long pieces",
            "pieces",
            500,
            |pieces| streamed(0, pieces, &"word ".repeat(400)),
        ),
        Row::new(
            "a stream of openai_responses, of long pieces",
            "pieces",
            500,
            |pieces| streamed(1, pieces, &"word ".repeat(400)),
        ),
        Row::new(
            "a stream of anthropic_messages, of long pieces",
            "pieces",
            500,
            |pieces| streamed(2, pieces, &"word ".repeat(400)),
        ),
        Row::new(
            "a stream of gemini, of long pieces",
            "pieces",
            500,
            |pieces| streamed(3, pieces, &"word ".repeat(400)),
        ),
        Row::new("a stream of many calls", "calls", 500, |calls| {
            let call = |index: usize| json!({ "index": index, "id": format!("c{index}"), "function": { "name": "f", "arguments": "{}" } });
            let event = |index| json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [call(index)] } }] });
            let stream: String = (0..calls)
                .map(|index| format!("data: {}\n\n", event(index)))
                .collect();
            let assembled = move || {
                protocol::assembled(
                    protocol::ALL[0],
                    Some(Framing::Events),
                    stream.as_bytes(),
                    true,
                )
            };
            Box::new(move || _ = black_box(assembled()))
        }),
        Row::new("an event in small pieces", "bytes", 50_000, |bytes| {
            in_pieces(bytes, {
                let mut blocks = sse::Blocks::default();
                move |piece| _ = black_box(blocks.push(piece))
            })
        }),
        Row::new("a line of MCP in small pieces", "bytes", 50_000, |bytes| {
            in_pieces(bytes, {
                let mut lines = Lines::default();
                move |piece| lines.take(piece, |frame| _ = black_box(frame))
            })
        }),
        Row::new(
            "an event of MCP in small pieces",
            "bytes",
            50_000,
            |bytes| {
                in_pieces(bytes, {
                    let mut events = EventStream::default();
                    move |piece| events.take(piece, |frame| _ = black_box(frame))
                })
            },
        ),
    ]
}
