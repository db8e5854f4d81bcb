//! Matchers that only a model could apply: they are recognised, and none is run here.

use serde_json::{Value, json};

use super::asks::Asks;
use super::declared::{Declared, MatcherForm};
use super::stage::{Prepare, Ready, Stage};
use super::{MatcherVerdict, Snapshots};
use crate::Node;
use crate::load::problems::Problems;

macro_rules! need_a_model {
    ($($name:ident = $key:literal;)*) => {
        $(
            pub(super) enum $name {}

            impl Declared for $name {
                type Value<S: Stage> = ();

                const KEY: &'static str = $key;
                const OTHER_WORDS: &'static [&'static str] = &[];
                const FORM: MatcherForm = MatcherForm::Unread;
                const DESCRIPTION: &'static str = "Needs a model. In an agent's `expect:` \
                    the case is listed as ignored; in a gate's `expect:` it is an error.";
                const EXAMPLE: &'static str = "is it kind?";
                const JUDGED: Option<[&'static str; 2]> = None;

                fn takes() -> Value {
                    json!({})
                }

                fn read(_: &Node, _: &mut Problems) -> Option<()> {
                    Some(())
                }

                fn asks<S: Stage>((): &()) -> Asks<'_, S> {
                    Asks::Model
                }

                fn prepare<R: Ready>((): &(), _: &mut dyn Prepare<R>) -> Option<()> {
                    Some(())
                }

                fn judge<R: Ready>((): &(), _: &Value, _: &Snapshots<'_>) -> MatcherVerdict {
                    MatcherVerdict::Undecided(Self::KEY)
                }

                fn phrase<R: Ready>((): &()) -> String {
                    format!("to pass the question that `{}` asks a model", Self::KEY)
                }
            }
        )*
    };
}

need_a_model! {
    LlmJudge = "llm-judge";
    LlmJury = "llm-jury";
    Similar = "similar";
    Factuality = "factuality";
    AnswerRelevance = "answer-relevance";
    ContextFaithfulness = "context-faithfulness";
    Citation = "citation";
}
