//! Matchers: what must hold of the value at a target.
//!
//! A matcher is declared in one file, as a type that implements `Declared`, and stands in one line of the
//! table below. Its key, its schema for editors, its row in the guide, how it is read, checked, judged and
//! put into words are made from these two. What else follows from a matcher follows from what it
//! [`Asks`], which knows no matcher by its name.
//!
//! A matcher judges a value. Nothing here knows of runs, gates or targets, and nothing compiles a
//! regular expression or a schema: who judges values brings both ([`Ready`], [`Prepare`]).

mod affix;
mod asks;
mod bounds;
mod combined;
mod compare;
mod contains;
mod declared;
mod exact;
mod facts;
mod is_json;
mod levenshtein;
mod model;
mod needle;
mod optional_schema;
mod reading;
mod regex;
mod schema;
mod snapshot;
mod stage;
mod subset;
mod takes;
#[cfg(test)]
mod tests;
mod tool_call;
mod verdict;

use serde_json::Value;

pub(crate) use asks::Demand;
pub use asks::{Asks, Facts, Join};
use declared::Declared;
pub use declared::MatcherForm;
pub(crate) use reading::read;
pub use stage::{AsWritten, Prepare, Ready, Stage};
pub use verdict::MatcherVerdict;

use crate::load::problems::Problems;
use crate::{Node, Span};

/// The table of matchers, one line each: its file, and its type there. Their order is that of the guide.
macro_rules! for_each_matcher {
    ($then:ident) => {
        $then! {
            exact::Exact;
            contains::Contains;
            subset::Subset;
            regex::Regex;
            schema::Schema;
            snapshot::Snapshot;
            contains::ContainsAll;
            contains::ContainsAny;
            contains::Icontains;
            affix::StartsWith;
            affix::EndsWith;
            is_json::IsJson;
            tool_call::IsValidToolsCall;
            levenshtein::Levenshtein;
            bounds::Min;
            bounds::Max;
            bounds::Between;
            combined::Not;
            combined::AllOf;
            combined::AnyOf;
            combined::OneOf;
            model::LlmJudge;
            model::LlmJury;
            model::Similar;
            model::Factuality;
            model::AnswerRelevance;
            model::ContextFaithfulness;
            model::Citation;
        }
    };
}

/// A matcher and where it is written. `S` says whether its regular expressions and schemas stand as they
/// are written, or ready to be held against values.
///
/// ```
/// use mcptest_suite::Source;
/// use mcptest_suite::matcher::Asks;
/// use mcptest_suite::model::Suite;
///
/// let text = "agents: [{ name: a, model: m, prompt: p, expect: [{ target: truncated, matcher: { exact: 0 } }] }]";
/// let suite = Suite::parse(Source::new("a.yml", "a.yml", text))?;
/// let matcher = &suite.agents[0].expect[0].matcher;
/// assert_eq!(matcher.name(), "exact");
/// assert!(matches!(matcher.asks(), Asks::Exactly(value) if *value == 0));
/// # Ok::<(), mcptest_suite::LoadError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Matcher<S: Stage = AsWritten> {
    kind: Kind<S>,
    /// Where its key stands.
    span: Span,
}

/// Judges a value against a snapshot, by the name that the matcher gives it, if it does.
pub type Snapshots<'a> = dyn Fn(Option<&str>, &Value) -> Result<(), Vec<String>> + 'a;

/// A matcher of the table, for editors, the guide and tests.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct MatcherInfo {
    /// Its key.
    pub key: &'static str,
    /// What else it may be written as.
    pub form: MatcherForm,
    /// What it says.
    pub description: &'static str,
    /// A value that it may have, as YAML.
    pub example: &'static str,
    /// A value of which the example holds, and one that breaks it, as JSON; nothing where only a model
    /// could tell.
    pub judged: Option<[&'static str; 2]>,
    other_words: &'static [&'static str],
    takes: fn() -> Value,
    read: fn(&Node, &mut Problems) -> Option<Kind<AsWritten>>,
}

impl MatcherInfo {
    /// What stands below its key, as a JSON Schema.
    #[must_use]
    pub fn schema(&self) -> Value {
        let mut schema = (self.takes)();
        schema["description"] = self.description.into();
        schema
    }
}

/// Every matcher, in the order of the guide.
///
/// ```
/// let between = mcptest_suite::matcher::matchers().iter().find(|it| it.key == "between");
/// assert_eq!(between.unwrap().schema()["maxItems"], 2);
/// ```
#[must_use]
pub fn matchers() -> &'static [MatcherInfo] {
    TABLE
}

macro_rules! table {
    ($($file:ident::$name:ident;)*) => {
        /// The matchers, each with what stands below its key.
        #[derive(Debug, Clone)]
        enum Kind<S: Stage> {
            $($name(<$file::$name as Declared>::Value<S>),)*
        }

        const TABLE: &[MatcherInfo] = &[$(MatcherInfo {
            key: <$file::$name as Declared>::KEY,
            form: <$file::$name as Declared>::FORM,
            description: <$file::$name as Declared>::DESCRIPTION,
            example: <$file::$name as Declared>::EXAMPLE,
            judged: <$file::$name as Declared>::JUDGED,
            other_words: <$file::$name as Declared>::OTHER_WORDS,
            takes: <$file::$name as Declared>::takes,
            read: |node, problems| {
                <$file::$name as Declared>::read(node, problems).map(Kind::$name)
            },
        },)*];

        impl<S: Stage> Kind<S> {
            fn key(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => <$file::$name as Declared>::KEY,)*
                }
            }

            fn asks(&self) -> Asks<'_, S> {
                match self {
                    $(Self::$name(value) => <$file::$name as Declared>::asks::<S>(value),)*
                }
            }
        }

        impl Kind<AsWritten> {
            fn prepare<R: Ready>(&self, with: &mut dyn Prepare<R>) -> Option<Kind<R>> {
                Some(match self {
                    $(Self::$name(value) => {
                        Kind::$name(<$file::$name as Declared>::prepare::<R>(value, with)?)
                    })*
                })
            }
        }

        impl<R: Ready> Kind<R> {
            fn judge(&self, found: &Value, snapshots: &Snapshots<'_>) -> MatcherVerdict {
                match self {
                    $(Self::$name(value) => {
                        <$file::$name as Declared>::judge::<R>(value, found, snapshots)
                    })*
                }
            }

            fn phrase(&self) -> String {
                match self {
                    $(Self::$name(value) => <$file::$name as Declared>::phrase::<R>(value),)*
                }
            }
        }

        impl PartialEq for Kind<AsWritten> {
            fn eq(&self, other: &Self) -> bool {
                match (self, other) {
                    $((Self::$name(one), Self::$name(other)) => one == other,)*
                    _ => false,
                }
            }
        }
    };
}

for_each_matcher!(table);

impl<S: Stage> Matcher<S> {
    /// Its key.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.kind.key()
    }

    /// Where its key stands.
    #[must_use]
    pub fn span(&self) -> Span {
        self.span
    }

    /// What it asks.
    #[must_use]
    pub fn asks(&self) -> Asks<'_, S> {
        self.kind.asks()
    }
}

impl Matcher {
    /// Makes the matcher ready to be held against values; nothing where a part of it cannot be made.
    pub fn prepare<R: Ready>(&self, with: &mut dyn Prepare<R>) -> Option<Matcher<R>> {
        let (kind, span) = (self.kind.prepare(with)?, self.span);
        Some(Matcher { kind, span })
    }
}

impl<R: Ready> Matcher<R> {
    /// Whether a value is what is wanted.
    #[must_use]
    pub fn judge(&self, found: &Value, snapshots: &Snapshots<'_>) -> MatcherVerdict {
        self.kind.judge(found, snapshots)
    }

    /// What is wanted, to be read after "expected `x`".
    #[must_use]
    pub fn phrase(&self) -> String {
        self.kind.phrase()
    }
}

impl PartialEq for Matcher {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.span == other.span
    }
}
