//! Model calls find their conversations as a look at all conversations finds them.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;

use super::{Observed, Outcome};
use crate::exchange::{Call, Item, ModelResponse, Part, ToolResult};
use crate::protocol;
use crate::record::StoredRequest;
use crate::record::conversation::{Changed, Conversation, ModelCall, read_model_calls};
use crate::record::events::{self, HistoryEvent};
use crate::record::history::HistoryTree;
use crate::record::placing::Placing;
use crate::record::repeated;
use crate::record::scratchpad;

/// A plain second implementation: each call is compared with all conversations, each answer with all later requests.
mod plain {
    use super::*;

    fn without_id(one: &HistoryEvent) -> HistoryEvent {
        let mut one = one.clone();
        if let HistoryEvent::Call { id, .. } | HistoryEvent::Result { id, .. } = &mut one {
            *id = None;
        }
        one
    }

    fn given_id(one: &HistoryEvent) -> Option<&str> {
        match one {
            HistoryEvent::Call { id, .. } | HistoryEvent::Result { id, .. } => {
                id.as_deref().filter(|id| !protocol::is_numbered(id))
            }
            _ => None,
        }
    }

    fn goes_on(talk: &[HistoryEvent], before: &[HistoryEvent]) -> bool {
        let is_same = |(now, then): (&HistoryEvent, &HistoryEvent)| {
            let ids = given_id(now).zip(given_id(then));
            without_id(now) == without_id(then) && ids.is_none_or(|(now, then)| now == then)
        };
        talk.len() >= before.len() && talk.iter().zip(before).all(is_same)
    }

    fn after(call: &ModelCall) -> Vec<HistoryEvent> {
        let answer = Arc::new(Item::Answer(call.said.parts.clone()));
        let answer = call.answered.then_some(answer);
        let talk: Vec<Arc<Item>> = call.asked.items.iter().cloned().chain(answer).collect();
        events::from_items(&talk)
    }

    /// The history after a call whose answer has lost the text beside its calls.
    fn bare(call: &ModelCall) -> Option<Vec<HistoryEvent>> {
        let is_text = |part: &Part| matches!(part, Part::Text(_) | Part::Refusal(_));
        let parts = &call.said.parts;
        let has_call = parts.iter().any(|part| matches!(part, Part::Call(_)));
        let mut bare = call.clone();
        bare.said.parts.retain(|part| !is_text(part));
        (call.answered && has_call && parts.iter().any(is_text)).then(|| after(&bare))
    }

    pub(super) fn is_same_question(one: &ModelCall, other: &ModelCall) -> bool {
        one.asked.system == other.asked.system
            && events::from_items(&one.asked.items) == events::from_items(&other.asked.items)
    }

    pub(super) fn mark_equal(made: &mut [ModelCall]) {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for place in (0..made.len()).filter(|place| made[*place].answered) {
            let mut all = groups.iter_mut();
            match all.find(|group| is_same_question(&made[group[0]], &made[place])) {
                Some(group) => group.push(place),
                None => groups.push(vec![place]),
            }
        }
        groups.retain(|group| group.len() > 1);
        for (group, places) in groups.iter().enumerate() {
            let is_used = |place: &&usize| {
                let after = after(&made[**place]);
                let mut later = made.iter().skip(**place + 1);
                later.any(|later| goes_on(&events::from_items(&later.asked.items), &after))
            };
            let kept = places.iter().find(is_used).or(places.last()).copied();
            for (number, place) in places.iter().enumerate() {
                made[*place].equal = Some((group, number));
                made[*place].forks = Some(*place) != kept;
            }
        }
    }

    pub(super) fn place(mut call: ModelCall, conversations: &mut Vec<Conversation>) {
        let talk = events::from_items(&call.asked.items);
        let open = if call.forks {
            &[][..]
        } else {
            &conversations[..]
        };
        let best = |before: &dyn Fn(&ModelCall) -> Option<Vec<HistoryEvent>>| {
            let mut best: Option<(usize, usize)> = None;
            for (index, conversation) in open.iter().enumerate() {
                let Some(before) = before(conversation.calls.last().unwrap()) else {
                    continue;
                };
                let is_longer = best.is_none_or(|(_, length)| before.len() > length);
                if is_longer && goes_on(&talk, &before) {
                    best = Some((index, before.len()));
                }
            }
            best
        };
        let (whole, bare) = (best(&|call| Some(after(call))), best(&bare));
        let is_bare = bare.map(|bare| bare.1) > whole.map(|whole| whole.1);
        let best = if is_bare { bare } else { whole };
        let place = if let Some((index, length)) = best {
            call.known = items_of(&call.asked.items, length);
            Some(index)
        } else if let Some(index) = open
            .iter()
            .enumerate()
            .filter(|(_, it)| begins_anew(it, &call))
            .max_by_key(|(_, it)| it.calls.last().map(|last| last.asked_at))
            .map(|(index, _)| index)
        {
            call.changed = Some(Changed::Anew);
            call.known = call.asked.items.len();
            Some(index)
        } else {
            let changed = open.iter().rposition(|it| has_changed(it, &call, &talk));
            if let Some(index) = changed {
                let last = conversations[index].calls.last().unwrap();
                let goes_back = goes_on(&talk, &events::from_items(&last.asked.items));
                call.changed = Some(if goes_back {
                    Changed::LastAnswer
                } else {
                    Changed::Past
                });
                let is_answer = |item: &Arc<Item>| matches!(**item, Item::Answer(_));
                let last = call.asked.items.iter().rposition(is_answer);
                call.known = last.map_or(call.asked.items.len(), |last| last + 1);
            }
            changed
        };
        match place {
            Some(index) => conversations[index].calls.push(call),
            None => conversations.push(Conversation { calls: vec![call] }),
        }
    }

    fn items_of(items: &[Arc<Item>], length: usize) -> usize {
        let enough = |count: &usize| events::from_items(&items[..*count]).len() >= length;
        let mut count = (0..=items.len()).find(enough).unwrap_or(items.len());
        while matches!(items.get(count).map(|item| &**item), Some(Item::Answer(_)))
            && events::from_items(&items[..=count]).len() == length
        {
            count += 1;
        }
        count
    }

    fn begins_anew(conversation: &Conversation, call: &ModelCall) -> bool {
        let last = conversation.calls.last().unwrap();
        let message = |call: &ModelCall| match &**call.asked.items.last()? {
            Item::User(text) => Some(text.clone()),
            _ => None,
        };
        let others = |call: &ModelCall| {
            let items = &call.asked.items;
            items[..items.len() - 1].to_vec()
        };
        let (Some(before), Some(own)) = (message(last), message(call)) else {
            return false;
        };
        last.asked.system == call.asked.system
            && others(last) == others(call)
            && scratchpad::continues_message(&before, &own, &last.said.parts, &[])
    }

    fn has_changed(conversation: &Conversation, call: &ModelCall, talk: &[HistoryEvent]) -> bool {
        let mut calls = conversation.calls.iter();
        if !calls.any(|earlier| earlier.asked.system == call.asked.system) {
            return false;
        }
        let opening = call.asked.opening();
        let before = after(conversation.calls.last().unwrap());
        let is_call = |it: &&HistoryEvent| matches!(it, HistoryEvent::Call { .. });
        let shares_calls = talk
            .iter()
            .filter(is_call)
            .any(|call| before.contains(call));
        let same_opening = opening.is_some() && opening == conversation.opening();
        let mut said = conversation.calls.iter().flat_map(|call| &call.said.parts);
        let has_summary = said.any(|part| match part {
            Part::Text(text) => {
                text.trim().len() >= 40 && opening.is_some_and(|it| it.contains(text.trim()))
            }
            _ => false,
        });
        same_opening && call.asked.answer_count() > 0 || shares_calls || has_summary
    }
}

/// How the next request comes about.
#[derive(Debug, Clone)]
struct Step {
    /// Which request before it goes on, if one does.
    base: Option<usize>,
    /// How the client changes what was said.
    change: u8,
    system: u8,
    user: u8,
    answer: u8,
    id: u8,
    fails: bool,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let parts = (
        0_usize..8,
        0_u8..10,
        0_u8..6,
        0_u8..7,
        0_u8..8,
        0_u8..5,
        0_u8..12,
    );
    let step = parts.prop_map(|(base, change, system, user, answer, id, fails)| Step {
        base: base.checked_sub(2),
        change,
        system,
        user,
        answer,
        id,
        fails: fails == 0,
    });
    proptest::collection::vec(step, 1..14)
}

const LONG: [&str; 2] = [
    "The user wants order 7 cancelled; it was found and is not shipped.",
    "   Long enough as it stands, and no text at all without its ends:   ",
];

fn user(number: u8) -> Item {
    Item::User(match number {
        0 => "Cancel 7.".to_owned(),
        1 => "Cancel 8.".to_owned(),
        2 => format!("So far: {} Go on.", LONG[0].trim()),
        3 => format!("{} {}", LONG[0].trim(), LONG[1].trim()),
        6 => "Cancel 7.\nYes.".to_owned(),
        4 => " Cancel 7. ".to_owned(),
        5 => String::new(),
        _ => "Again.".to_owned(),
    })
}

fn call(id: u8, name: &str) -> Part {
    let id = match id {
        0 => None,
        1 => Some("gemini:find:0".to_owned()),
        id => Some(format!("c{id}")),
    };
    Part::Call(Call {
        id,
        name: name.to_owned(),
        args: json!({ "order": 7 }),
        ..Call::default()
    })
}

fn answer(step: &Step) -> Vec<Part> {
    match step.answer {
        0 => vec![Part::Text("Yes.".to_owned())],
        1 => vec![Part::Text(LONG[0].to_owned())],
        2 => vec![Part::Text(LONG[1].to_owned()), Part::Text(" ".repeat(50))],
        3 => vec![
            Part::Text("I ".to_owned()),
            Part::Text("look.".to_owned()),
            call(step.id, "find"),
        ],
        4 => vec![
            call(step.id, "find"),
            call(step.id.saturating_add(1), "find"),
        ],
        5 => Vec::new(),
        _ => vec![call(step.id, "find")],
    }
}

/// What a client sends of an answer, and the results of its calls.
fn sent(parts: &[Part], change: u8) -> Vec<Arc<Item>> {
    let mut parts = parts.to_vec();
    for part in &mut parts {
        match part {
            Part::Call(call) if change == 1 => call.id = None,
            Part::Text(text) if change == 2 => *text += "!",
            _ => {}
        }
    }
    if change == 9 {
        parts.retain(|part| !matches!(part, Part::Text(_)));
    }
    let results = parts.iter().filter_map(|part| match part {
        Part::Call(call) => Some(Item::Result(ToolResult {
            id: call.id.clone(),
            value: json!("done"),
            ..ToolResult::default()
        })),
        _ => None,
    });
    let results: Vec<Item> = results.collect();
    let answers = match change {
        // It is left out.
        3 => Vec::new(),
        // It comes in pieces.
        4 => parts
            .into_iter()
            .map(|part| Item::Answer(vec![part]))
            .collect(),
        _ => vec![Item::Answer(parts)],
    };
    answers.into_iter().chain(results).map(Arc::new).collect()
}

fn session(steps: &[Step]) -> Vec<Observed> {
    let mut observed: Vec<Observed> = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        let base = step
            .base
            .filter(|_| number > 0)
            .map(|base| &observed[base % number]);
        let mut items = Vec::new();
        let mut previous = None;
        if let Some(base) = base {
            items = base.asked.as_ref().unwrap().items.to_vec();
            if let Outcome::Answered { said, .. } = &base.outcome {
                items.extend(sent(&said.parts, step.change));
            }
            match step.change {
                // The past is cut off, or what is said is the same question again.
                5 => drop(items.drain(..items.len() / 2)),
                6 => items = base.asked.as_ref().unwrap().items.to_vec(),
                // The provider holds it, with the answer or without.
                7 | 8 => {
                    if let Outcome::Answered { said, .. } = &base.outcome {
                        previous.clone_from(&said.id);
                        items = sent(&said.parts, if step.change == 7 { 3 } else { 0 });
                    }
                }
                _ => {}
            }
        }
        if base.is_none() || step.user < 4 && step.change != 6 {
            items.push(Arc::new(user(step.user)));
        }
        let system = ["Help.", "Check."].get(usize::from(step.system));
        let asked = StoredRequest {
            items: items.into(),
            system: system.map(|text| Arc::from(*text)),
            previous,
            ..StoredRequest::default()
        };
        let said = ModelResponse {
            id: Some(format!("r{number}")),
            parts: answer(step),
            ..ModelResponse::default()
        };
        let failed = Outcome::Lost("it broke".to_owned());
        let broken = None;
        let at = 10 * number as u64;
        observed.push(Observed {
            protocol: Some(protocol::ALL[0]),
            method: "POST".to_owned(),
            path: "/v1/chat/completions".to_owned(),
            query: None,
            digest: String::new(),
            asked: Some(asked),
            asked_at: at,
            ended_at: Some(at + 5),
            tick: 0,
            outcome: if step.fails {
                failed
            } else {
                Outcome::Answered { said, broken }
            },
            gone: false,
            changes: BTreeSet::new(),
        });
    }
    observed
}

/// What is told of the calls of each conversation.
fn summarize(conversations: &[Conversation]) -> Vec<Vec<String>> {
    let each = |call: &ModelCall| {
        let ModelCall {
            asked_at,
            known,
            changed,
            equal,
            forks,
            ..
        } = call;
        format!("at {asked_at}, known {known}, {changed:?}, {equal:?}, forks {forks}")
    };
    let all = conversations.iter();
    all.map(|it| it.calls.iter().map(each).collect()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn calls_are_placed_as_a_look_at_all_conversations_places_them(steps in steps()) {
        let observed = session(&steps);
        let mut talks = HistoryTree::default();
        let (_, mut made) = read_model_calls(&observed, &mut talks);
        for one in &made {
            for other in &made {
                let is_same = plain::is_same_question(one, other);
                prop_assert_eq!(one.question() == other.question(), is_same);
            }
        }
        let mut plainly = made.clone();
        plain::mark_equal(&mut plainly);
        let mut expected = Vec::new();
        for call in plainly {
            plain::place(call, &mut expected);
        }
        repeated::mark_answers(&mut made, &mut talks);
        let mut placing = Placing::default();
        for call in made {
            placing.place(call, &mut talks);
        }
        prop_assert_eq!(summarize(&placing.conversations()), summarize(&expected));
    }

    #[test]
    fn the_things_that_happened_are_counted_item_by_item(steps in steps()) {
        for one in session(&steps) {
            let items = one.asked.unwrap().items;
            let plain: Vec<usize> = (0..=items.len()).map(|to| events::from_items(&items[..to]).len()).collect();
            prop_assert_eq!(events::event_counts(&items), plain);
        }
    }
}
