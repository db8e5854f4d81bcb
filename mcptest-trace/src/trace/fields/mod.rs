//! What a recorded run may hold: each field is declared once, with all that depends on it.
//!
//! From a declaration follow the keys that the reader knows and those that are nearly one, the order in which a run is
//! written, the schema and the tables of `docs/`, and how secrets are taken out. Text that no declaration keeps is
//! searched for secrets, also under keys that are not declared. `tests.rs` walks all declarations: the reader and the
//! schema refuse what a field does not take, a planted secret stays only in a field that says `kept`, and mutants have
//! each field that their run has.

mod beside;
mod conversation;
mod meant;
mod run;
#[cfg(test)]
pub(crate) mod sample;
mod score;
#[cfg(test)]
mod tests;
mod trace;

pub(crate) use conversation::{CONVERSATION, PER_TURN, STEP, TOKENS, TURN};
pub(crate) use run::{RUN, TOOL};
pub(crate) use score::{OUTCOME, SCORE, SIGNALS};
pub(crate) use trace::{ATTEMPT, CALL, OWN, RESULT, SYNTHESIZED, TRACE};

/// The fields of one kind of object.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a thing that an object declares or not"
)]
pub(crate) struct Fields {
    /// In the order in which they are written.
    pub(crate) all: &'static [Field],
    /// What an item of a list of these is.
    #[cfg_attr(not(test), allow(dead_code, reason = "the schema is made by a test"))]
    says: &'static str,
    /// Keys under which only words of the program that writes the object stand: they are kept, whatever a secret looks like.
    #[cfg_attr(not(feature = "store"), allow(dead_code, reason = "for writing"))]
    pub(crate) words: &'static [&'static str],
    /// Names that mean a field wherever they stand.
    always: &'static [(&'static str, &'static str)],
    /// Names that mean a field where that is absent.
    instead: &'static [(&'static str, &'static str)],
    /// Whether no other key may be there.
    #[cfg_attr(not(test), allow(dead_code, reason = "the schema is made by a test"))]
    is_closed: bool,
    /// Whether the keys have an order of their own, and not that of the alphabet.
    #[cfg_attr(not(feature = "store"), allow(dead_code, reason = "for writing"))]
    is_in_order: bool,
    /// Whether every key in it is a word of the program that writes it, so that no key is looked at for secrets.
    #[cfg_attr(not(feature = "store"), allow(dead_code, reason = "for writing"))]
    pub(crate) has_own_keys: bool,
    /// Whether the schema does not describe what is in it: a part with a version of its own.
    pub(crate) is_hidden: bool,
}

impl Fields {
    const fn new(all: &'static [Field]) -> Self {
        Self {
            all,
            says: "",
            words: &[],
            always: &[],
            instead: &[],
            is_closed: false,
            is_in_order: false,
            has_own_keys: false,
            is_hidden: false,
        }
    }

    const fn says(mut self, says: &'static str) -> Self {
        self.says = says;
        self
    }

    const fn words(mut self, words: &'static [&'static str]) -> Self {
        self.words = words;
        self
    }

    const fn always(mut self, names: &'static [(&'static str, &'static str)]) -> Self {
        self.always = names;
        self
    }

    const fn instead(mut self, names: &'static [(&'static str, &'static str)]) -> Self {
        self.instead = names;
        self
    }

    const fn closed(mut self) -> Self {
        self.is_closed = true;
        self
    }

    const fn in_order(mut self) -> Self {
        self.is_in_order = true;
        self
    }

    const fn own_keys(mut self) -> Self {
        self.has_own_keys = true;
        self
    }

    const fn hidden(mut self) -> Self {
        self.is_hidden = true;
        self
    }

    /// The field of this key.
    pub(crate) fn get(&self, key: &str) -> Option<&'static Field> {
        self.all.iter().find(|field| field.key == key)
    }

    /// The place of a key in the order in which the object is written; none of a key that stands among the others, by
    /// the alphabet.
    #[cfg_attr(not(feature = "store"), allow(dead_code, reason = "for writing"))]
    pub(crate) fn rank(&self, key: &str) -> Option<usize> {
        let in_order = |field: &Field| self.is_in_order && !field.is_among_others;
        let rank = self.all.iter().position(|field| field.key == key)?;
        in_order(&self.all[rank]).then_some(rank)
    }

    /// The keys that the format has.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'static str> {
        let described = self.all.iter().filter(|field| field.is_described);
        described.map(|field| field.key)
    }
}

/// One field.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    pub(crate) key: &'static str,
    pub(crate) takes: Takes,
    /// What it says, for editors and the tables of `docs/`.
    #[cfg_attr(not(test), allow(dead_code, reason = "the schema is made by a test"))]
    says: &'static str,
    #[cfg_attr(not(test), allow(dead_code, reason = "the schema is made by a test"))]
    presence: Presence,
    /// The minor version of the format that it came with.
    since: u64,
    #[cfg_attr(not(feature = "store"), allow(dead_code, reason = "for writing"))]
    pub(crate) secrets: Secrets,
    #[cfg_attr(
        not(test),
        allow(dead_code, reason = "a test holds the reader against it")
    )]
    reading: Reading,
    /// Whether it is younger than the order of its object, and stands among the keys that are not known.
    #[cfg_attr(not(feature = "store"), allow(dead_code, reason = "for writing"))]
    is_among_others: bool,
    /// Whether the schema and the reader know it; else it is a key of a tool that writes runs.
    is_described: bool,
}

/// What a field takes.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(test), allow(dead_code, reason = "the schema is made by a test"))]
pub(crate) enum Takes {
    /// A text.
    Text,
    /// A text that this regular expression finds something in.
    TextLike(&'static str),
    /// A whole number, 0 or more.
    Count,
    /// A whole number.
    Whole,
    /// A number.
    Number,
    /// A number from 0 to 1.
    Share,
    /// `true` or `false`.
    Flag,
    /// Any value.
    Any,
    /// A JSON Schema.
    Schema,
    /// Two indices: the first, and the one after the last.
    Range,
    /// An object with these fields.
    Object(&'static Fields),
    /// A list of such objects.
    List(&'static Fields),
    /// A list of lines of text or of such objects.
    Lines(&'static str, &'static Fields),
}

/// Whether a field must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    Required,
    /// It may be absent, and `null` says the same.
    Nullable,
    /// It may be absent.
    NeverNull,
}

/// What becomes of secrets in a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "store"), allow(dead_code, reason = "for writing"))]
pub(crate) enum Secrets {
    /// They are taken out.
    TakenOut,
    /// The field stays as it is, whatever a secret looks like: names, digests and words of the format.
    Kept,
    /// They are taken out of a text that the suite does not say itself.
    TakenOutUnlessOfSuite,
    /// They are taken out, and the form of an MCP result stays.
    TakenOutOfResult,
    /// They are taken out of the texts and keys. What a key is called makes no value secret: its keys are arguments.
    TakenOutOfTexts,
}

/// What the reader does with a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    not(test),
    allow(dead_code, reason = "a test holds the reader against it")
)]
pub(crate) enum Reading {
    /// It reads it, and refuses what the field does not take.
    Strict,
    /// It reads it, and takes what another recorder means by the word for nothing.
    Tolerant,
    /// It leaves it to other programs.
    Ignored,
}

impl Takes {
    /// The fields of the objects in it.
    pub(crate) fn inner(self) -> Option<&'static Fields> {
        match self {
            Self::Object(inner) | Self::List(inner) | Self::Lines(_, inner) => Some(inner),
            _ => None,
        }
    }
}

impl Field {
    const fn new(key: &'static str, takes: Takes) -> Self {
        Self {
            key,
            takes,
            says: "",
            presence: Presence::Nullable,
            since: 0,
            secrets: Secrets::TakenOut,
            reading: Reading::Strict,
            is_among_others: false,
            is_described: true,
        }
    }

    const fn text(key: &'static str) -> Self {
        Self::new(key, Takes::Text)
    }

    const fn text_like(key: &'static str, pattern: &'static str) -> Self {
        Self::new(key, Takes::TextLike(pattern))
    }

    const fn count(key: &'static str) -> Self {
        Self::new(key, Takes::Count)
    }

    const fn number(key: &'static str) -> Self {
        Self::new(key, Takes::Number)
    }

    const fn share(key: &'static str) -> Self {
        Self::new(key, Takes::Share).never_null()
    }

    const fn flag(key: &'static str) -> Self {
        Self::new(key, Takes::Flag)
    }

    const fn any(key: &'static str) -> Self {
        Self::new(key, Takes::Any)
    }

    const fn object(key: &'static str, fields: &'static Fields) -> Self {
        Self::new(key, Takes::Object(fields))
    }

    const fn list(key: &'static str, fields: &'static Fields) -> Self {
        Self::new(key, Takes::List(fields))
    }

    const fn says(mut self, says: &'static str) -> Self {
        self.says = says;
        self
    }

    const fn required(mut self) -> Self {
        self.presence = Presence::Required;
        self
    }

    const fn never_null(mut self) -> Self {
        self.presence = Presence::NeverNull;
        self
    }

    const fn since(mut self, minor: u64) -> Self {
        self.since = minor;
        self
    }

    /// With its secrets: only for names, digests and words of the format.
    const fn kept(mut self) -> Self {
        self.secrets = Secrets::Kept;
        self
    }

    const fn secrets(mut self, secrets: Secrets) -> Self {
        self.secrets = secrets;
        self
    }

    const fn tolerant(mut self) -> Self {
        self.reading = Reading::Tolerant;
        self
    }

    const fn ignored(mut self) -> Self {
        self.reading = Reading::Ignored;
        self
    }

    const fn among_others(mut self) -> Self {
        self.is_among_others = true;
        self
    }

    const fn undescribed(mut self) -> Self {
        self.is_described = false;
        self.is_among_others = true;
        self.reading = Reading::Ignored;
        self
    }
}
