//! What can be said of a word, and of a verb in its sentence: the names that the lexicon, the reader
//! and the rules share.

use std::collections::HashMap;
use std::sync::LazyLock;

use heck::ToKebabCase;

/// Declares the marks. The data files call `DidWord` did-word.
macro_rules! marks {
    ($($(#[$about:meta])* $mark:ident)*) => {
        /// One thing that can be said of a word or of a verb.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Mark { $($(#[$about])* $mark,)* }

        // A set has a bit for each.
        const _: () = assert!([$(Mark::$mark),*].len() <= 2 * u128::BITS as usize);

        impl Mark {
            /// The mark that the data files call so.
            pub(crate) fn named(name: &str) -> Option<Self> {
                static NAMES: LazyLock<HashMap<String, Mark>> =
                    LazyLock::new(|| [$((stringify!($mark).to_kebab_case(), Mark::$mark)),*].into());
                NAMES.get(name).copied()
            }
        }
    };
}

marks! {
    // Classes of words: the sections of the lexicon say what each is.
    Light LightOnly Generic Creating Consequence Carrier Deal World Settles NeedsParticle Particle
    NameOnly PassiveOnly Lands Remade Zero Worked Wrote Work AnyObject Describes HandsOver Composes Modal DidWord Able To Been Being Be
    BePresent BePast IsOrHas Have Had Ours You Your Me Third Determiner Preposition
    Conjunction Joins Relative Asks Adverb Negative Condition Wish Hypothetical Presupposed Report Announce
    Feeling Earlier LongUnit Date General Already Success Now Here GoAhead Requests
    Means Money Answer DoneWord AllSetWord Label NotYet OtherVerb Abbreviation
    Levied Levies Comma SentenceEnd AfterWord GenericName RunsAnything Information Fetches MakingHead Delegates People DelegatingHead
    Grammatical OfVerbGroup Finite BeforeSubject NotDone
    // What a token is.
    /// A noun for an action that also names what the action leaves.
    Thing Number Identifier Sign
    /// A word of no grammatical class: mostly a noun or a name.
    Content
    /// A sign that parts two clauses, or a label from what it labels.
    Parts Quoted
    // Forms of a verb.
    Base Past Participle Gerund
    /// *Price difference charged: $12*
    Field
    // How a verb stands in its sentence.
    /// *have cancelled*
    Perfect
    /// *cancelled*, with *I* or *we* right before it; *did cancel*.
    Did
    /// *was able to cancel*
    WasAble
    /// *am cancelling*
    Progressive
    /// *has been cancelled*, *was cancelled*, *is cancelled*, *is being cancelled*
    HasBeen WasDone IsDone IsBeing
    /// *the cancellation is complete*
    IsComplete
    /// *all set*
    AllSet
    /// *I have your room booked*
    HaveObject
    /// *Cancelled* without subject or auxiliary, and of those the ones after their noun (*one bag
    /// added*) or after a label (*Order 7: cancelled*).
    Bare AfterNoun AfterLabel
    /// The verb says only that something was done, and a noun beside it says what.
    Nominal
    /// An identifier stands in the sentence.
    Named
    /// Joined by *and* to something that is told as done.
    Beside
    /// The participle may describe the noun after it: *Updated total*.
    Adjectival
    /// A base form that is a past form too: *set*; a participle that is rather a verb: *Emailed Sam*.
    Ambiguous
    /// *SO-4: cancelled on May 1*, *Created at: 2024-05-15*
    Dated
    /// After a lead-in that says so, *Here is what I did:*, a tick, or in a list of deeds.
    ToldDone
    /// *Status: cancelled*
    Status Question
    /// Someone else did it.
    Other
    /// Under a heading or after a label of what is not done: a plan, options, history.
    Undone Bracketed
    /// The closing asks whether to go ahead.
    AsksToGoAhead
    /// A part of the answer itself: *a summary*, *the table below*.
    PartOfAnswer
    /// Others than the agent do it as often, and no known tool does it.
    WorldDoes
    /// A known tool does just this, to just this thing: *The order is cancelled*, where `cancel_order` is known.
    OfTool
    /// *the successful write operations*, *my changes are saved*
    SuccessOf MyWork
    /// It tells how something works: *is pushed onto a stack*, *is published weekly*.
    Described
    // What only the rows of `patterns.txt` say to one another.
    Active Alone CanShare Composer Definite DatedAfter Inherits Joint Mine Nothing OfClause PastAfter Plans Signed
    Stood ToldLater Voiced Given Says Title Item Follows ToolVerb ToolDoes Acts NounNext Settled OnDay Maybe PluralEnd
    OwnAct Whole Told Unsure
    /// A form of a verb, a noun for an action, one in the name of a tool that changes something.
    Verb ActNoun ToolNoun Time Year Capitals Code OfDate
    // What a word of a tool's name is, and what the name says.
    Plain Changer Reader Known
    Reads DelegatesWork HandsUser EitherVerb VagueName SilentName Pages
    /// A word in *-ing*, a plural, a tick, a day in figures.
    Ing Plural Tick Day
    Closes
}

/// A set of marks: `of![Have Been]`.
macro_rules! of {
    [$($mark:ident)*] => { const { Marks::from_marks(&[$(Mark::$mark),*]) } };
}
pub(crate) use of;

/// A set of marks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct Marks(u128, u128);

impl Marks {
    pub(crate) const fn from_marks(marks: &[Mark]) -> Self {
        let mut set = Self(0, 0);
        let mut at = 0;
        while at < marks.len() {
            set = set.with(Self::one(marks[at]));
            at += 1;
        }
        set
    }

    const fn one(mark: Mark) -> Self {
        let bit = mark as u32;
        match bit.checked_sub(u128::BITS) {
            None => Self(1 << bit, 0),
            Some(bit) => Self(0, 1 << bit),
        }
    }

    /// The marks among the words of a line of a data file.
    pub(crate) fn named<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        let marks: Vec<Mark> = words.into_iter().filter_map(Mark::named).collect();
        Self::from_marks(&marks)
    }

    pub(crate) const fn has(self, mark: Mark) -> bool {
        self.meets(Self::one(mark))
    }

    pub(crate) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0 || self.1 & other.1 != 0
    }

    pub(crate) const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0 && self.1 & other.1 == other.1
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0 && self.1 == 0
    }

    pub(crate) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0, self.1 | other.1)
    }

    /// Those of them that stand in the other set too.
    pub(crate) const fn among(self, other: Self) -> Self {
        Self(self.0 & other.0, self.1 & other.1)
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0, self.1 & !other.1)
    }

    pub(crate) fn add(&mut self, mark: Mark) {
        *self = self.with(Self::one(mark));
    }

    pub(crate) fn remove(&mut self, mark: Mark) {
        *self = self.without(Self::one(mark));
    }

    pub(crate) fn add_if(&mut self, holds: bool, mark: Mark) {
        if holds {
            self.add(mark);
        }
    }
}
