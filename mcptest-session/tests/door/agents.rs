//! Agents that are told what to do otherwise than when they were recorded.

use serde_json::{Value, json};

use crate::Place;
use crate::desk::PROMPT;
use crate::model::{ask, calls, result, user};
use crate::tools::{Call, Given, Tools, tool_message};

/// What an agent does otherwise.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a change of its own")]
pub(crate) struct Change {
    /// The calls tell no identifiers.
    pub(crate) nameless: bool,
    /// The code pays for another order than the model asks for.
    pub(crate) order: Option<u64>,
    /// The code does not call the tool, and makes its result up.
    pub(crate) skips: bool,
    /// A call that fails is tried once more.
    pub(crate) retries: bool,
    /// The tool fails the first time.
    pub(crate) fails_first: bool,
    /// A secret in what the tool gives.
    pub(crate) secret: Option<&'static str>,
}

/// An agent with a tool that pays, and one that fails.
pub(crate) async fn pays(place: Place, change: Change) {
    let tools = Tools::new(&place);
    let offered = ["refund", "close"];
    let mut talk = vec![user(PROMPT)];
    let mut times = 0;
    while let Some(message) = ask(&tools, &talk, &offered).await {
        let asked = calls(&message);
        if asked.is_empty() {
            return;
        }
        talk.push(message);
        for (id, name, args) in asked {
            let mut given = Ok(json!("refunded"));
            let tries = if change.retries { 2 } else { 1 };
            for _ in 0..tries {
                if change.skips && name == "refund" {
                    break;
                }
                times += 1;
                let fails = name == "close" || (change.fails_first && times == 1);
                given = called(&tools, &change, (&id, &name), &args, fails).await;
                if given.is_ok() {
                    break;
                }
            }
            talk.push(result(&id, &tool_message(&given)));
        }
    }
}

/// The agent of the desk, which pays order 7 before it asks its model.
pub(crate) async fn prepays(place: Place) {
    let tools = Tools::new(&place);
    let change = Change {
        nameless: true,
        ..Change::default()
    };
    let seven = json!({ "order": 7 });
    let paid = called(&tools, &change, ("", "refund"), &seven, false).await;
    let mut talk = vec![user(PROMPT)];
    while let Some(message) = ask(&tools, &talk, &["refund", "close"]).await {
        let asked = calls(&message);
        if asked.is_empty() {
            return;
        }
        talk.push(message);
        for (id, name, args) in asked {
            let given = match (name.as_str(), args == seven) {
                ("refund", true) => paid.clone(),
                (name, _) => called(&tools, &change, (&id, name), &args, name == "close").await,
            };
            talk.push(result(&id, &tool_message(&given)));
        }
    }
}

/// The agent of the desk, which tells its model at once that order 7 is paid, and pays it after that.
pub(crate) async fn postpays(place: Place, change: Change) {
    let tools = Tools::new(&place);
    let seven = json!({ "order": 7 });
    let paid = Ok(json!({ "refunded": 7, "receipt": "none" }));
    let mut talk = vec![user(PROMPT)];
    let mut later = None;
    while let Some(message) = ask(&tools, &talk, &["refund", "close"]).await {
        if let Some(id) = later.take() {
            let id: String = id;
            let given = called(&tools, &change, (&id, "refund"), &seven, false).await;
            assert_eq!(given, paid);
        }
        let asked = calls(&message);
        if asked.is_empty() {
            return;
        }
        talk.push(message);
        for (id, name, args) in asked {
            let given = if args == seven && name == "refund" {
                later = Some(id.clone());
                paid.clone()
            } else {
                called(&tools, &change, (&id, &name), &args, name == "close").await
            };
            talk.push(result(&id, &tool_message(&given)));
        }
    }
}

async fn called(
    tools: &Tools,
    change: &Change,
    (id, name): (&str, &str),
    args: &Value,
    fails: bool,
) -> Given {
    // The framework adds what the model did not name.
    let mut args = args.clone();
    args["state"] = json!({ "user": 1 });
    if let (Some(order), "refund") = (change.order, name) {
        args["order"] = order.into();
    }
    let id = Some(id).filter(|_| !change.nameless);
    let call = Call {
        name,
        args: args.clone(),
        id,
        inside: None,
    };
    tools
        .call(call, || {
            if fails {
                return Err(json!({ "type": "Closed", "module": "desk", "text": "it is closed" }));
            }
            let secret = change.secret.unwrap_or("none");
            Ok(json!({ "refunded": args["order"], "receipt": secret }))
        })
        .await
}

/// An agent that acts in text: its model writes `refund(7)`, and the code does it.
pub(crate) async fn writes(place: Place, skips: bool, order: Option<u64>) {
    let tools = Tools::new(&place);
    let mut talk = vec![user(PROMPT)];
    while let Some(message) = ask(&tools, &talk, &[]).await {
        let text = message["content"].as_str().unwrap().to_owned();
        talk.push(message);
        let Some(number) = text.strip_prefix("refund ") else {
            return;
        };
        let number: u64 = order.unwrap_or_else(|| number.parse().unwrap());
        let call = Call {
            name: "refund",
            args: json!({ "order": number }),
            ..Call::default()
        };
        let given = if skips {
            Ok(json!({ "refunded": number }))
        } else {
            tools.call(call, || Ok(json!({ "refunded": number }))).await
        };
        talk.push(user(&format!("Observation: {}", tool_message(&given))));
    }
}

/// An agent one of whose tools is an agent of its own, with a tool inside.
pub(crate) async fn delegates(place: Place, skips: bool) {
    let tools = Tools::new(&place);
    let mut talk = vec![user(PROMPT)];
    while let Some(message) = ask(&tools, &talk, &["research"]).await {
        let asked = calls(&message);
        if asked.is_empty() {
            return;
        }
        talk.push(message);
        for (id, name, args) in asked {
            let outer = Call {
                name: &name,
                args: args.clone(),
                id: Some(&id),
                inside: None,
            };
            let given = match tools.begin(&outer).await {
                _ if skips => Ok(json!("It is 7.")),
                Ok(run) => {
                    let given = researches(&tools, &run, args["question"].as_str().unwrap()).await;
                    tools.end(&run, &given).await;
                    given
                }
                Err(given) => given,
            };
            talk.push(result(&id, &tool_message(&given)));
        }
    }
}

async fn researches(tools: &Tools, outer: &str, question: &str) -> Given {
    let system = json!({ "role": "system", "content": "You find things out." });
    let mut talk = vec![system, user(question)];
    loop {
        let message = ask(tools, &talk, &["find"]).await.unwrap();
        let asked = calls(&message);
        if asked.is_empty() {
            return Ok(message["content"].clone());
        }
        talk.push(message);
        for (id, name, args) in asked {
            let call = Call {
                name: &name,
                args,
                id: None,
                inside: Some(outer),
            };
            let given = tools.call(call, || Ok(json!("order 7"))).await;
            talk.push(result(&id, &tool_message(&given)));
        }
        let audit = Call {
            name: "audit",
            args: json!({}),
            inside: Some(outer),
            ..Call::default()
        };
        tools.call(audit, || Ok(Value::Null)).await.unwrap();
    }
}
