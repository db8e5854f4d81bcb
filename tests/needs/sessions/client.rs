//! The clients: which library each program uses, and how that library words what a format leaves open.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::packages;
use crate::support::folder::Folder;

/// A program in `agents/`, and what is known of its library.
pub(super) struct Client {
    pub(super) language: Language,
    /// The package that asks the model.
    pub(super) library: &'static str,
    pub(super) program: &'static str,
    pub(super) model: &'static str,
    /// How recordings name the wire format.
    pub(super) format: &'static str,
    /// What the library tells the model of a tool that failed.
    pub(super) failure: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Python,
    JavaScript,
}

/// The clients whose agents are recorded.
pub(super) const ALL: [Client; 17] = [
    Client {
        language: Language::Python,
        library: "openai",
        program: "openai_chat.py",
        model: "gpt-5",
        format: "openai_chat",
        failure: "Error: there is no order 8",
    },
    Client {
        language: Language::Python,
        library: "openai",
        program: "openai_responses.py",
        model: "gpt-5",
        format: "openai_responses",
        failure: "Error: there is no order 8",
    },
    Client {
        language: Language::Python,
        library: "anthropic",
        program: "anthropic_messages.py",
        model: "claude-sonnet-4-5",
        format: "anthropic_messages",
        failure: "there is no order 8",
    },
    Client {
        language: Language::Python,
        library: "google-genai",
        program: "google_genai.py",
        model: "gemini-2.5-pro",
        format: "gemini",
        failure: "Failed to invoke function get_order with converted arguments {'order': 8} from model returned function \
            call argument {'order': 8} because of error there is no order 8",
    },
    Client {
        language: Language::Python,
        library: "google-genai",
        program: "vertex_gemini.py",
        model: "gemini-2.5-pro",
        format: "gemini",
        failure: "Failed to invoke function get_order with converted arguments {'order': 8} from model returned function \
            call argument {'order': 8} because of error there is no order 8",
    },
    Client {
        language: Language::Python,
        library: "anthropic",
        program: "vertex_claude.py",
        model: "claude-sonnet-4-5",
        format: "anthropic_messages",
        failure: "there is no order 8",
    },
    Client {
        language: Language::Python,
        library: "ollama",
        program: "ollama_chat.py",
        model: "qwen3",
        format: "ollama",
        failure: "Error: there is no order 8",
    },
    Client {
        language: Language::Python,
        library: "openai-agents",
        program: "openai_agents.py",
        model: "gpt-5",
        format: "openai_responses",
        // The library keeps to itself what the error was.
        failure: "An error occurred while running the tool. Please try again.",
    },
    Client {
        language: Language::Python,
        library: "pydantic-ai-slim",
        program: "pydantic_ai_desk.py",
        model: "gpt-5",
        format: "openai_chat",
        failure: "{\"error\":\"there is no order 8\"}",
    },
    Client {
        language: Language::Python,
        library: "langchain-openai",
        program: "langgraph_desk.py",
        model: "gpt-5",
        format: "openai_chat",
        failure: "Error: ValueError('there is no order 8')\n Please fix your mistakes.",
    },
    Client {
        language: Language::Python,
        library: "boto3",
        program: "bedrock_boto3.py",
        model: "us.amazon.nova-pro-v1:0",
        format: "bedrock_converse",
        failure: "there is no order 8",
    },
    Client {
        language: Language::Python,
        library: "anthropic",
        program: "bedrock_anthropic.py",
        model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        format: "bedrock_invoke",
        failure: "there is no order 8",
    },
    Client {
        language: Language::Python,
        library: "strands-agents",
        program: "bedrock_strands.py",
        model: "global.anthropic.claude-sonnet-4-6",
        format: "bedrock_converse",
        failure: "Error: there is no order 8",
    },
    Client {
        language: Language::Python,
        library: "langchain-aws",
        program: "bedrock_langchain.py",
        model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        format: "bedrock_converse",
        failure: "Error: ValueError('there is no order 8')\n Please fix your mistakes.",
    },
    Client {
        language: Language::JavaScript,
        library: "openai",
        program: "openai_chat.mjs",
        model: "gpt-5",
        format: "openai_chat",
        failure: "Error: there is no order 8",
    },
    Client {
        language: Language::JavaScript,
        library: "@anthropic-ai/sdk",
        program: "anthropic_messages.mjs",
        model: "claude-sonnet-4-5",
        format: "anthropic_messages",
        failure: "Error: there is no order 8",
    },
    Client {
        language: Language::JavaScript,
        library: "ai",
        program: "ai_sdk.mjs",
        model: "gpt-5",
        format: "openai_responses",
        failure: "there is no order 8",
    },
];

/// The programs and what they share.
const FILES: [(&str, &str); 19] = [
    ("orders.py", include_str!("../agents/orders.py")),
    ("openai_chat.py", include_str!("../agents/openai_chat.py")),
    (
        "openai_responses.py",
        include_str!("../agents/openai_responses.py"),
    ),
    (
        "anthropic_messages.py",
        include_str!("../agents/anthropic_messages.py"),
    ),
    ("google_genai.py", include_str!("../agents/google_genai.py")),
    (
        "vertex_gemini.py",
        include_str!("../agents/vertex_gemini.py"),
    ),
    (
        "vertex_claude.py",
        include_str!("../agents/vertex_claude.py"),
    ),
    ("ollama_chat.py", include_str!("../agents/ollama_chat.py")),
    (
        "openai_agents.py",
        include_str!("../agents/openai_agents.py"),
    ),
    (
        "pydantic_ai_desk.py",
        include_str!("../agents/pydantic_ai_desk.py"),
    ),
    (
        "langgraph_desk.py",
        include_str!("../agents/langgraph_desk.py"),
    ),
    (
        "bedrock_boto3.py",
        include_str!("../agents/bedrock_boto3.py"),
    ),
    (
        "bedrock_anthropic.py",
        include_str!("../agents/bedrock_anthropic.py"),
    ),
    (
        "bedrock_strands.py",
        include_str!("../agents/bedrock_strands.py"),
    ),
    (
        "bedrock_langchain.py",
        include_str!("../agents/bedrock_langchain.py"),
    ),
    ("orders.mjs", include_str!("../agents/orders.mjs")),
    ("openai_chat.mjs", include_str!("../agents/openai_chat.mjs")),
    (
        "anthropic_messages.mjs",
        include_str!("../agents/anthropic_messages.mjs"),
    ),
    ("ai_sdk.mjs", include_str!("../agents/ai_sdk.mjs")),
];

impl Client {
    /// A folder with the programs, in which the libraries are found.
    pub(super) fn folder(&self) -> Folder {
        let folder = Folder::new();
        if self.language == Language::JavaScript {
            packages::link(&packages::javascript(), &folder);
        }
        for (name, text) in FILES {
            folder.write(name, text);
        }
        folder
    }

    /// What runs a program of this language.
    pub(super) fn interpreter(&self) -> PathBuf {
        match self.language {
            Language::Python => packages::python(),
            Language::JavaScript => PathBuf::from("node"),
        }
    }

    /// The error flag of a result, in a format that has one.
    pub(super) fn is_error(&self, failed: bool) -> Option<bool> {
        let has_flag = ["anthropic_messages", "bedrock_converse", "bedrock_invoke"];
        has_flag.contains(&self.format).then_some(failed)
    }

    /// Whether a result in a recording is what the tool gave.
    #[track_caller]
    pub(super) fn has_result(&self, recorded: &Value, given: &Result<Value, ()>) {
        let text = &recorded["content"][0]["text"];
        match (self.format, given) {
            ("gemini", Ok(value)) => assert_eq!(*recorded, json!({ "result": value })),
            ("gemini", Err(())) => assert_eq!(*recorded, json!({ "error": self.failure })),
            // A block of JSON is the value itself.
            ("bedrock_converse", Ok(value)) if text.is_null() => assert_eq!(recorded, value),
            (_, Ok(value)) => {
                let parsed: Value = serde_json::from_str(text.as_str().unwrap()).unwrap();
                assert_eq!(parsed, *value, "{recorded}");
            }
            (_, Err(())) => assert_eq!(text, self.failure),
        }
    }

    /// The tools as a request has them: name, description, schema.
    pub(super) fn offered(&self, request: &Value) -> Vec<[Value; 3]> {
        let tools = match self.format {
            "gemini" => &request["tools"][0]["functionDeclarations"],
            "bedrock_converse" => &request["toolConfig"]["tools"],
            _ => &request["tools"],
        };
        let (inner, schema) = match self.format {
            "openai_chat" | "ollama" => ("/function", "parameters"),
            "openai_responses" => ("", "parameters"),
            "anthropic_messages" | "bedrock_invoke" => ("", "input_schema"),
            "bedrock_converse" => ("/toolSpec", "inputSchema"),
            _ => ("", "parameters_json_schema"),
        };
        let tools = tools.as_array().unwrap().iter();
        let parts = |tool: &Value| {
            let tool = tool.pointer(inner).unwrap();
            let [name, text, schema] = ["name", "description", schema].map(|key| tool[key].clone());
            let inner = schema.get("json").cloned();
            [name, text, inner.unwrap_or(schema)]
        };
        tools.map(parts).collect()
    }
}
