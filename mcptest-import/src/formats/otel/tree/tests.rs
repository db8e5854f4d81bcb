//! What is around a span is what a walk from it to the root finds.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::formats::otel::agents::Agents;
use crate::formats::otel::span;

/// A plain second implementation: each question walks from a span to the root.
mod naive {
    use super::*;

    pub(super) struct Plain<'t> {
        pub(super) spans: &'t [OtelSpan],
        pub(super) nested: HashMap<String, String>,
    }

    impl<'t> Plain<'t> {
        pub(super) fn new(spans: &'t [OtelSpan]) -> Self {
            let mut plain = Self {
                spans,
                nested: HashMap::new(),
            };
            plain.nested = plain.within_tools();
            plain
        }

        /// The spans around a span, the outermost first.
        fn around(&self, span: &OtelSpan) -> Vec<&'t OtelSpan> {
            let by_id = |id: &String| self.spans.iter().find(|span| span.id == *id);
            let mut around: Vec<&OtelSpan> = Vec::new();
            let mut next = span.parent.as_ref().and_then(by_id);
            while let Some(parent) = next {
                around.insert(0, parent);
                next = parent.parent.as_ref().and_then(by_id);
            }
            around
        }

        fn within_tools(&self) -> HashMap<String, String> {
            let calls = || self.spans.iter().filter(|span| span.is_model_call());
            let tool = |call: &OtelSpan| self.around(call).into_iter().find(|it| it.is_tool());
            if calls().all(|call| tool(call).is_some()) {
                return HashMap::new();
            }
            let of_rig =
                |call: &&OtelSpan| spans::find_emitter(call.marked()).emitter == Emitter::Rig;
            let named = calls().filter(of_rig).filter_map(|call| {
                let name = call.attribute_text(Meaning::AgentName)?;
                Some((tool(call)?.id.clone(), name.to_owned()))
            });
            named.collect()
        }

        fn is_in_tool(&self, span: &OtelSpan) -> bool {
            let in_tool = |span: &OtelSpan| self.around(span).iter().any(|it| it.is_tool());
            let mut calls = self.spans.iter().filter(|span| span.is_model_call());
            in_tool(span) && calls.any(|call| !in_tool(call))
        }

        fn nearest(&self, span: &OtelSpan) -> Option<&'t OtelSpan> {
            self.around(span).into_iter().rfind(|it| it.is_agent())
        }

        fn is_own(&self, span: &OtelSpan) -> bool {
            let works_for = || {
                let outer = self.nearest(span).map(|outer| &outer.id);
                let mut calls = self.spans.iter().filter(|span| span.is_model_call());
                calls.any(|call| {
                    outer.is_some() && self.nearest(call).map(|outer| &outer.id) == outer
                })
            };
            span.is_agent()
                && (span.invoked_agent().is_some() || self.is_in_tool(span) || works_for())
        }

        pub(super) fn subagent(&self, span: &OtelSpan, main: Option<&str>) -> Option<&'t str> {
            let around = self.around(span);
            let is_main =
                |span: &&OtelSpan| span.invoked_agent().is_some() && span.invoked_agent() == main;
            let holds_main = |span: &&OtelSpan| {
                let mut mains = self.spans.iter().filter(is_main);
                mains.any(|main| self.around(main).iter().any(|it| it.id == span.id))
            };
            let agents = around.iter().copied().filter(|span| self.is_own(span));
            let agents: Vec<&OtelSpan> = agents.collect();
            let others = |agents: &[&'t OtelSpan]| -> Vec<&'t OtelSpan> {
                agents.iter().copied().filter(|it| !is_main(it)).collect()
            };
            let own = match agents.iter().position(is_main) {
                Some(main) => others(&agents[main + 1..]).first().copied(),
                None => others(&agents).into_iter().find(|it| !holds_main(it)),
            };
            let mut tools = around.into_iter();
            let own = own.or_else(|| tools.find(|tool| self.nested.contains_key(&tool.id)));
            own.map(|own| own.id.as_str())
        }

        pub(super) fn main(&self) -> Option<&'t str> {
            let agents = self.spans.iter();
            let agents =
                agents.filter(|span| span.invoked_agent().is_some() && !self.is_in_tool(span));
            let mut agents: Vec<&OtelSpan> = agents.collect();
            agents.sort_by_key(|span| (self.around(span).len(), span.sort_key()));
            let calls = |main: &str| {
                let mut own = self.spans.iter().filter(|span| span.is_model_call());
                own.any(|call| {
                    let around = self.around(call);
                    let is_nested = around.iter().any(|it| self.nested.contains_key(&it.id));
                    let named = around.iter().copied().filter_map(OtelSpan::invoked_agent);
                    let mut within = named.skip_while(|name| *name != main);
                    let is_alone = |name| name == main;
                    !is_nested
                        && (!around.iter().any(|it| it.invoked_agent().is_some())
                            || within.next().is_some() && within.all(is_alone))
                })
            };
            let names: Vec<&str> = agents
                .into_iter()
                .filter_map(OtelSpan::invoked_agent)
                .collect();
            let calling = names.iter().copied().find(|name| calls(name));
            calling.or(names.first().copied())
        }

        pub(super) fn is_seen_twice(&self, span: &OtelSpan) -> bool {
            let mut calls = self.spans.iter().filter(|span| span.is_model_call());
            span.is_model_call()
                && calls.any(|it| self.around(it).iter().any(|it| it.id == span.id))
        }

        pub(super) fn same_call(&self, span: &OtelSpan) -> Option<&OtelSpan> {
            let name = span.tool_name();
            let mut around = self.around(span).into_iter();
            around.find(|outer| outer.is_tool() && outer.tool_name() == name)
        }
    }
}

/// Spans of some kinds, each within an earlier one, in one that is not there, or in none.
fn spans_of(kinds: &[(u8, Option<usize>, u64)]) -> Vec<OtelSpan> {
    let id = |number: usize| format!("{number:016x}");
    let spans = kinds.iter().enumerate();
    let spans = spans.map(|(number, (kind, parent, start))| {
        let operation = match kind {
            0..=3 | 12 => "invoke_agent",
            4..=6 => "execute_tool",
            7..=9 => "chat",
            _ => "step",
        };
        let mut attributes = json!({ "gen_ai.operation.name": operation });
        match kind {
            0 | 1 => attributes["gen_ai.agent.name"] = "desk".into(),
            2 | 7 => attributes["gen_ai.agent.name"] = "shop".into(),
            3 => attributes["gen_ai.agent.name"] = "mail".into(),
            4 | 5 => attributes["gen_ai.tool.name"] = "find".into(),
            _ => {}
        }
        // One that is not there, and one before it.
        let parent = parent.filter(|parent| *parent < number || *parent > kinds.len());
        json!({ "traceId": "t", "spanId": id(number), "parentSpanId": parent.map(id), "name": "x", "attributes": attributes,
            "startTimeUnixNano": start, "endTimeUnixNano": 9 })
    });
    let spans: Vec<Value> = spans.collect();
    let scopes = json!([{ "scope": { "name": "rig" }, "spans": spans }]);
    span::parse_export(&json!({ "resourceSpans": [{ "scopeSpans": scopes }] })).0
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn what_is_around_a_span_is_what_a_walk_to_the_root_finds(
        kinds in proptest::collection::vec((0_u8..13, proptest::option::weighted(0.9, 0_usize..14), 0_u64..4), 0..12),
    ) {
        let tree = Tree::new(spans_of(&kinds));
        prop_assert_eq!(tree.spans.len(), kinds.len());
        let plain = naive::Plain::new(&tree.spans);
        prop_assert_eq!(tree.main(), plain.main());
        for main in [None, Some("desk"), Some("shop"), Some("other")] {
            let agents = Agents::with_main(&tree, main);
            for (place, span) in tree.spans.iter().enumerate() {
                let subagent = agents.subagent(place).map(|agent| agent.id);
                prop_assert_eq!(subagent, plain.subagent(span, main));
            }
        }
        for (span, is_twice) in tree.spans.iter().zip(tree.duplicate_model_calls()) {
            prop_assert_eq!(is_twice, plain.is_seen_twice(span));
        }
        for (span, same) in tree.spans.iter().zip(tree.same_calls()) {
            let same = same.map(|same| &same.id);
            let expected = plain.same_call(span).filter(|_| span.is_tool());
            prop_assert_eq!(same, expected.map(|same| &same.id));
        }
    }
}
