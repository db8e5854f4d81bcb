//! The labelled runs as the reader of closings takes them: with the verbs' tools of each domain, and
//! the tools that its agents are known to have.

use std::collections::BTreeMap;

use mcptest::eval::{
    Claim, KnownTools, NarrativeOptions, NarrativeReport, narrative_divergence_with,
};
use mcptest::trace::Trace;
use serde_json::{Value, json};

use crate::runs::{Labelled, of_the_airline, of_the_desk};
use crate::support::real_runs;

/// A labelled run.
pub(crate) struct Told {
    pub(crate) id: String,
    pub(crate) trace: Trace,
    /// With the tools of the verbs.
    pub(crate) options: NarrativeOptions,
    pub(crate) known: KnownTools,
    pub(crate) claims: Vec<Label>,
    pub(crate) any_false: bool,
    /// Whether a claim is false and not a matter of taste.
    pub(crate) clear_false: bool,
}

/// A labelled claim.
pub(crate) struct Label {
    pub(crate) verb: String,
    pub(crate) quote: String,
    pub(crate) supported: bool,
    /// Borderline, or about a detail: it may go either way.
    pub(crate) soft: bool,
    /// The tool that did it, where the label names one.
    pub(crate) by: Option<String>,
}

/// How a run is judged: with its mapping, with `narrative: {}`, or with that and its tools complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Evidence,
    Plain,
    Complete,
}

pub(crate) const MODES: [Mode; 3] = [Mode::Evidence, Mode::Plain, Mode::Complete];

impl Told {
    pub(crate) fn judged(&self, mode: Mode) -> NarrativeReport {
        self.judged_as(&self.trace, mode)
    }

    /// Another trace, judged as this run is.
    pub(crate) fn judged_as(&self, trace: &Trace, mode: Mode) -> NarrativeReport {
        let options = match mode {
            Mode::Evidence => self.options.clone(),
            Mode::Plain => NarrativeOptions::default(),
            Mode::Complete => NarrativeOptions::default().with_tools(self.known.names()),
        };
        narrative_divergence_with(trace, &options, &self.known)
    }

    /// Which half it belongs to: the reader is tuned on one alone.
    pub(crate) fn tuned_on(&self) -> bool {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in self.id.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        (hash >> 32) & 1 == 0
    }

    /// The label of a claim that was read: their words meet in the closing.
    pub(crate) fn label_of(&self, claim: &Claim) -> Option<&Label> {
        self.claims.iter().find(|label| self.meet(label, claim))
    }

    pub(crate) fn meet(&self, label: &Label, claim: &Claim) -> bool {
        let closing = self.trace.closing().unwrap_or_default();
        closing
            .match_indices(label.quote.trim())
            .any(|(at, quote)| claim.span.start < at + quote.len() && at < claim.span.end)
    }
}

fn evidence(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut map = BTreeMap::new();
    for part in text
        .split(';')
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        let (verbs, tools) = part.split_once("->").unwrap();
        let list = |text: &str| {
            text.split(',')
                .map(|s| s.trim().to_owned())
                .filter(|s| !s.is_empty())
                .collect::<Vec<_>>()
        };
        for verb in list(verbs) {
            map.entry(verb).or_insert_with(Vec::new).extend(list(tools));
        }
    }
    map
}

const AIRLINE: &str = "add -> update_reservation_baggages, update_reservation_passengers; book -> book_reservation;
 cancel -> cancel_reservation; upgrade, downgrade -> update_reservation_flights;
 update, change, modify -> update_reservation_flights, update_reservation_passengers, update_reservation_baggages;
 transfer -> transfer_to_human_agents; send -> send_certificate";

fn mapping(domain: &str) -> &'static str {
    match domain {
        "retail" => "cancel -> cancel_pending_order; return -> return_delivered_order_items; exchange -> exchange_delivered_order_items, modify_pending_order_items;
 modify, change, update, swap, replace -> modify_pending_order_items, modify_pending_order_address, modify_pending_order_payment, modify_user_address;
 refund -> cancel_pending_order, modify_pending_order_items, modify_pending_order_payment; charge -> modify_pending_order_items;
 transfer, escalate -> transfer_to_human_agents; send, note, flag -> ",
        "telecom" | "telecom-workflow" => "add, refuel -> refuel_data; enable -> enable_roaming, disable_roaming; resume, reactivate -> resume_line, suspend_line; send -> send_payment_request; transfer -> transfer_to_human_agents",
        "healthcare" => "schedule, book, confirm -> schedule_appointment, cancel_appointment; join, connect -> join_virtual_call_queue; send, message -> message_pcp; refill, submit -> request_refill, request_new_prescription; set -> update_pharmacy; change -> update_pcp",
        "hotel_calle" => "book, reserve -> create_reservation",
        "restaurante_joaquin_cachay" => "order, place -> create_order, submit_order; reserve -> create_reservation; cancel -> cancel_order, cancel_reservation",
        "fishtrader_garbich" | "estaciondeservicio_Rivera" => "register, order -> register_customer, register_order, register_client; cancel -> cancel_order; pay -> make_payment; invoice, send -> issue_invoice, emit_virtual_invoice; transfer -> transfer_to_human_agents",
        "filtro_gastelo" => "order, register -> register_provider_order; transfer, escalate -> escalate_to_human",
        "healthcare_macalupu" => "create -> crear_sic; send -> enviar_sic; cancel -> anular_sic",
        "academico_jefersoncorrea" => "enrol, enroll -> create_enrollment; drop -> cancel_enrollment; swap -> update_enrollment_swap",
        "retail_farfan" => "order -> create_order; cancel -> cancel_order; return -> request_return; pay -> process_payment",
        "sanita_irigoin" => "order -> create_order; escalate -> escalate_to_human",
        "enosa_masias" => "open -> create_ticket",
        "salud_mendoza_lista" | "salud_mendoza_rag" => "book -> create_appointment_reservation; mark -> update_interconsulta_as_resolved_externally; transfer -> transfer_to_human_agents",
        "mock" => "create -> create_task; update, mark -> update_task_status",
        "cable_calderon" => "create, open -> create_claim, register_claim; transfer -> transfer_to_human_agents",
        "ecommerce_calle" => "return -> request_return; cancel -> cancel_order",
        other => panic!("no mapping for {other}"),
    }
}

/// Tool calls that failed say so, begin with `Error`, or have an `error` in them.
fn failed(message: &Value) -> bool {
    let content = message["content"].as_str().unwrap_or_default();
    let object: Value = serde_json::from_str(content).unwrap_or_default();
    let error = &object["error"];
    let nothing = error.is_null() || *error == false || *error == "";
    message["error"] == true || content.starts_with("Error") || !nothing
}

/// A run in the chat messages of `OpenAI`. A call without a result counts as failed.
fn of_messages(run: &Value) -> Trace {
    let (mut calls, mut results, mut users) = (Vec::new(), Vec::new(), Vec::new());
    let mut by_id = BTreeMap::new();
    for message in run["messages"].as_array().unwrap() {
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let text = call["function"]["arguments"].as_str().unwrap_or_default();
            let args: Value = serde_json::from_str(text).unwrap_or_else(|_| json!(text));
            by_id.insert(call["id"].as_str().unwrap_or_default(), calls.len());
            calls.push(json!({ "name": call["function"]["name"], "args": args }));
        }
        if message["role"] == "user" {
            users.push(json!({ "role": "user", "content": message["content"] }));
        }
        let id = message["tool_call_id"].as_str();
        if let Some(at) = id.and_then(|id| by_id.get(id)) {
            let content = json!([{ "type": "text", "text": message["content"] }]);
            results.push(json!({
                "call_index": at,
                "is_error": failed(message),
                "result": { "content": content },
            }));
        }
    }
    Trace::from_envelope(&json!({
        "tool_calls": calls,
        "tool_results": results,
        "conversation": { "turns": users },
        "final_response": run["closing"],
    }))
}

fn lines(file: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(real_runs::part("other-domains").join(file)).unwrap();
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The labelled runs of other domains and models.
pub(crate) fn other_domains() -> Vec<Told> {
    let runs = lines("runs.jsonl");
    let mut by_domain: BTreeMap<&str, KnownTools> = BTreeMap::new();
    for run in &runs {
        let known = by_domain
            .entry(run["domain"].as_str().unwrap())
            .or_default();
        known.add_called(&of_messages(run));
    }
    let by_id: BTreeMap<_, _> = runs.iter().map(|run| (run["id"].as_str(), run)).collect();
    let read = |label: &Value| {
        let run = by_id[&label["id"].as_str()];
        let domain = run["domain"].as_str().unwrap();
        let claims = label["claims"].as_array().unwrap().iter();
        let claims = claims.map(|claim| Label {
            verb: claim["verb"].as_str().unwrap().to_owned(),
            quote: claim["quote"].as_str().unwrap().to_owned(),
            supported: claim["supported"] == true,
            soft: claim["borderline"] == true || claim["why"] == "detail",
            by: claim["by"].as_str().map(str::to_owned),
        });
        let claims: Vec<Label> = claims.collect();
        Told {
            id: label["id"].as_str().unwrap().to_owned(),
            trace: of_messages(run),
            options: options(mapping(domain)),
            known: by_domain[domain].clone(),
            any_false: label["any_false_claim"] == true,
            clear_false: claims.iter().any(|claim| !claim.supported && !claim.soft),
            claims,
        }
    };
    lines("labels.jsonl").iter().map(read).collect()
}

fn options(mapping: &str) -> NarrativeOptions {
    let mut options = NarrativeOptions::default();
    options.evidence = evidence(mapping);
    options
}

/// The runs of the airline.
pub(crate) fn airline() -> Vec<Told> {
    let runs = of_the_airline().into_iter();
    runs.map(|run| read_labelled_run(run, AIRLINE)).collect()
}

/// The sample.
pub(crate) fn desk() -> Vec<Told> {
    let mapping = "cancel -> cancel_order; add -> add_note; update -> update_address";
    let runs = of_the_desk().into_iter();
    runs.map(|run| read_labelled_run(run, mapping)).collect()
}

fn read_labelled_run(run: Labelled, mapping: &str) -> Told {
    let claims = run.claims.into_iter().map(|claim| Label {
        verb: claim.verb,
        quote: claim.quote,
        supported: claim.supported,
        soft: false,
        by: None,
    });
    Told {
        id: run.name,
        trace: run.trace,
        options: options(mapping),
        known: KnownTools::offered(&run.tools),
        claims: claims.collect(),
        any_false: run.absent,
        clear_false: run.absent,
    }
}
