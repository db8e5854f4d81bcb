//! The packages that are measured, written once: the same bytes on every machine.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// Runs of an agent in the package of many recordings.
const RUNS: usize = 4;

/// Changes with what is written, so that old data is not measured.
const VERSION: &str = "1";

/// Where the packages lie.
pub(crate) struct Data {
    /// 1,000 agents in 20 suites, 4 runs and 5 cases each, about 90 MB of recordings.
    pub(crate) recorded: PathBuf,
    /// 1,000 agents in 200 suites, without recordings.
    pub(crate) listed: PathBuf,
    /// One agent with a run of 10,000 calls, and one with 100,000.
    pub(crate) long: [(PathBuf, usize); 2],
}

/// Writes what is not there yet.
pub(crate) fn written(folder: &Path) -> io::Result<Data> {
    let data = Data {
        recorded: folder.join("recorded"),
        listed: folder.join("listed"),
        long: [10_000, 100_000].map(|calls| (folder.join(format!("long-{calls}")), calls)),
    };
    let mark = folder.join("version");
    if fs::read_to_string(&mark).is_ok_and(|version| version == VERSION) {
        return Ok(data);
    }
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    eprintln!("writing about 100 MB below {}", folder.display());
    suites(&data.recorded, 20, 50, RUNS)?;
    suites(&data.listed, 200, 5, 0)?;
    for (folder, calls) in &data.long {
        long(folder, *calls)?;
    }
    fs::write(mark, VERSION)?;
    Ok(data)
}

/// A package of suites; `runs`: how many are recorded of each agent.
fn suites(package: &Path, suites: usize, agents: usize, runs: usize) -> io::Result<()> {
    for suite in 0..suites {
        let mut text = String::from("variables:\n  desk: support\n\nagents:\n");
        for agent in 0..agents {
            text += &agent_test(suite, agent);
            let folder = format!("suites/cassettes/Desk_{suite:03}_{agent:02}__claude-sonnet-4-5");
            for run in 0..runs {
                let path = package.join(&folder).join(format!("run-{}.json", run + 1));
                write(&path, &recording(suite, agent, run, &calls(12)))?;
            }
        }
        let path = package.join(format!("suites/desk_{suite:03}.yml"));
        fs::create_dir_all(path.parent().unwrap_or(&path))?;
        fs::write(path, text)?;
    }
    Ok(())
}

/// The tools of twelve calls, in order.
const TOOLS: [&str; 12] = [
    "find_customer",
    "list_orders",
    "get_order",
    "get_policy",
    "search_notes",
    "get_shipment",
    "get_invoice",
    "check_stock",
    "get_price",
    "refund_order",
    "add_note",
    "send_mail",
];

fn agent_test(suite: usize, agent: usize) -> String {
    format!(
        r"  - name: Desk {suite:03} {agent:02}
    model: claude-sonnet-4-5
    system_prompt: You work at the ${{desk}} desk. Look an order up before you touch it.
    prompt: {prompt}
    runs: {RUNS}
    max_turns: 20
    token_budget: 60000
    expect:
      - target: tool_calls[0].args
        matcher: {{ contains: {{ customer: C-{agent:04} }} }}
      - target: tool_results[-1].is_error
        matcher: {{ exact: false }}
      - target: final_response
        matcher: {{ contains: RF-{agent:04} }}
    golden_path:
      calls: [{tools}]
      allow_extra_steps: true
    trajectory:
      mode: subsequence
      calls:
        - name: get_order
          args: {{ exact: {{ order: A-{agent:04}, step: 2 }} }}
        - name: refund_order
          args: {{ schema: {{ required: [order], properties: {{ step: {{ maximum: 20 }} }} }} }}
          is_error: false
    narrative: {{ verbs: [refund] }}
    stability:
      expect:
        - target: stability.argument_consistency
          matcher: {{ min: 0.5 }}
",
        prompt = prompt(agent),
        tools = TOOLS.join(", "),
    )
}

fn prompt(agent: usize) -> String {
    format!("Order A-{agent:04} was cancelled. Please refund all of it and tell the customer.")
}

/// Calls to the tools, over and over.
fn calls(count: usize) -> Vec<&'static str> {
    TOOLS.iter().copied().cycle().take(count).collect()
}

/// A recorded run: what a desk looks up is long, and each run says it otherwise.
fn recording(suite: usize, agent: usize, run: usize, tools: &[&str]) -> Value {
    let order = format!("A-{agent:04}");
    let (mut made, mut results, mut turns) = (Vec::new(), Vec::new(), Vec::new());
    turns.push(json!({ "role": "user", "content": prompt(agent) }));
    for (step, tool) in tools.iter().enumerate() {
        let mut args = json!({ "order": order, "step": step });
        if step == 0 {
            args["customer"] = json!(format!("C-{agent:04}"));
        }
        turns.push(
            json!({ "role": "assistant", "content": format!("tool_use desk::{tool} with {args}") }),
        );
        made.push(json!({ "name": tool, "server": "desk", "args": args, "step": step, "hop_index": step }));
        results.push(json!({
            "call_index": step,
            "server": "desk",
            "is_error": false,
            "result": {
                "content": [{ "type": "text", "text": page(suite + agent * 7 + run * 31 + step) }],
                "isError": false,
                "structuredContent": { "order": order, "status": "ok", "cents": 1250 + step },
            },
        }));
    }
    let closing = format!(
        "I looked the order {order} up and refunded it in full: the refund is RF-{agent:04}. I noted what was done and sent the customer a mail. Attempt {run}."
    );
    turns.push(json!({ "role": "assistant", "content": closing }));
    let steps: Vec<Value> = (0..=tools.len())
        .map(|step| json!({ "prompt": 400 + 250 * step, "completion": 40 + (step * 7 + run) % 23 }))
        .collect();
    json!({
        "schema_version": "v1",
        "agent_name": format!("Desk {suite:03} {agent:02}"),
        "model": "claude-sonnet-4-5",
        "recorded_at": format!("2026-11-22T02:{:02}:{:02}.{run:03}Z", suite % 60, agent % 60),
        "system_prompt": "You work at the support desk. Look an order up before you touch it.",
        "user_prompt": prompt(agent),
        "trace": {
            "tool_calls": made,
            "tool_results": results,
            "final_response": closing,
            "conversation": {
                "duration_ms": 9_000 + run * 10,
                "message_count": turns.len(),
                "stop_reason": "completed",
                "turns": turns,
                "steps": steps,
            },
        },
    })
}

/// A page of what was looked up, about 800 bytes.
fn page(seed: usize) -> String {
    let mut state = seed as u64 + 1;
    let words = [
        "order",
        "parcel",
        "invoice",
        "customer",
        "shelf",
        "carrier",
        "voucher",
        "warehouse",
        "address",
        "deadline",
        "refund",
        "note",
    ];
    let mut text = String::from("Found:\n");
    while text.len() < 800 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let drawn = usize::try_from(state >> 40).unwrap_or_default();
        text += &format!(
            "{} {} is \"{}\".\n",
            words[drawn % 12],
            drawn % 9_973,
            words[drawn / 12 % 12]
        );
    }
    text
}

/// A package of one agent with one long run, and every gate that a single run can have.
fn long(package: &Path, count: usize) -> io::Result<()> {
    let text = "\
agents:
  - name: Long
    model: claude-sonnet-4-5
    prompt: Order A-0000 was cancelled. Please refund all of it and tell the customer.
    system_prompt: You work at the support desk. Look an order up before you touch it.
    expect:
      - target: final_response
        matcher: { contains: RF-0000 }
    calls: { max: 200000 }
    energy: { expect: [{ target: energy.tokens, matcher: { min: 1 } }] }
    golden_path:
      calls: [find_customer, refund_order]
      allow_extra_steps: true
      expect: [{ target: golden_path.extra_steps, matcher: { min: 1 } }]
    narrative: { verbs: [refund] }
    session: {}
    trajectory:
      mode: subsequence
      calls: [{ name: find_customer }, { name: refund_order }]
    trajectory_axes:
      dependencies:
        - { producer: find_customer, consumer: refund_order, arg: order }
";
    let path = package.join("suites/long.yml");
    fs::create_dir_all(path.parent().unwrap_or(&path))?;
    fs::write(path, text)?;
    let mut run = recording(0, 0, 0, &calls(count));
    run["agent_name"] = json!("Long");
    // Pages of the usual length would measure the reading of them.
    let results = run["trace"]["tool_results"].as_array_mut();
    for (index, result) in results.into_iter().flatten().enumerate() {
        result["result"] = json!({ "order": "A-0000", "status": "ok", "row": index });
    }
    write(
        &package.join("suites/cassettes/Long__claude-sonnet-4-5.json"),
        &run,
    )
}

fn write(path: &Path, value: &Value) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    fs::write(path, format!("{value:#}\n"))
}
