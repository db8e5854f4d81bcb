//! What can be said of a word, and of a verb in its sentence: the names that the lexicon, the reader
//! and the rules share.

/// Declares the marks with the names that the data files have for them.
macro_rules! marks {
    ($($(#[$about:meta])* $mark:ident $name:literal,)*) => {
        /// One thing that can be said of a word or of a verb.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Mark { $($(#[$about])* $mark,)* }

        impl Mark {
            pub(super) fn named(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$mark),)*
                    _ => None,
                }
            }
        }
    };
}

marks! {
    // Classes of words: the sections of the lexicon say what each is.
    Light "light", LightOnly "light-only", Generic "generic", Creating "creating",
    Consequence "consequence", Carrier "carrier", Deal "deal", World "world", Settles "settles", NeedsParticle "needs-particle",
    Particle "particle", NameOnly "name-only", PassiveOnly "passive-only", Lands "lands", Remade "remade",
    HandsOver "hands-over", Composes "composes",
    Modal "modal", DidWord "did-word", Able "able", To "to", Been "been", Being "being", Be "be",
    BePresent "be-present", BePast "be-past", IsOrHas "is-or-has", Have "have", Had "had",
    Ours "ours", You "you", Your "your", Me "me", Third "third", Determiner "determiner", Count "count",
    Preposition "preposition", Conjunction "conjunction", Relative "relative", Asks "asks",
    Auxiliary "auxiliary", Adverb "adverb", Negative "negative", Condition "condition",
    Presupposed "presupposed", Report "report", Announce "announce", Feeling "feeling",
    Earlier "earlier", RecentUnit "recent-unit", LongUnit "long-unit", Date "date",
    General "general", Already "already", Success "success", Now "now", Here "here",
    GoAhead "go-ahead", Requests "requests", Means "means", Money "money", Answer "answer",
    DoneWord "done-word", AllSetWord "all-set-word", Label "label", UndoneScope "undone-scope",
    NotYet "not-yet", Ticked "ticked", OtherVerb "other-verb",
    Abbreviation "abbreviation", Comma "comma", SentenceEnd "sentence-end", Aside "aside",
    AfterWord "after-word",
    GenericName "generic-name", MakingHead "making-head", Delegates "delegates",
    People "people", DelegatingHead "delegating-head",
    Grammatical "grammatical", OfVerbGroup "of-verb-group", Finite "finite", OtherFinite "other-finite",
    BeforeSubject "before-subject", NotDone "not-done",
    // What a token is.
    /// A noun for an action that also names what the action leaves.
    Thing "thing",
    Number "number", Identifier "identifier", Sign "sign",
    /// A sign that parts two clauses, or a label from what it labels.
    Parts "parts",
    Quoted "quoted",
    // Forms of a verb.
    Base "base", Present "present", Past "past", Participle "participle", Gerund "gerund",
    /// The list after the claim tells it item by item.
    LeadsIn "leads-in",
    /// *Price difference charged: $12*
    Field "field",
    // How a verb stands in its sentence.
    /// *have cancelled*
    Perfect "perfect",
    /// *cancelled*, with *I* or *we* right before it; *did cancel*.
    Did "did",
    /// *was able to cancel*
    WasAble "was-able",
    /// *am cancelling*
    Progressive "progressive",
    /// *has been cancelled*, *was cancelled*, *is cancelled*, *is being cancelled*
    HasBeen "has-been", WasDone "was-done", IsDone "is-done", IsBeing "is-being",
    /// *the cancellation is complete*
    IsComplete "is-complete",
    /// *all set*
    AllSet "all-set",
    /// *I have your room booked*
    HaveObject "have-object",
    /// *Cancelled* without subject or auxiliary, and of those the ones after their noun (*one bag
    /// added*) or after a label (*Order 7: cancelled*).
    Bare "bare", AfterNoun "after-noun", AfterLabel "after-label",
    /// The verb says only that something was done, and a noun beside it says what.
    Nominal "nominal",
    /// An identifier stands in the sentence.
    Named "named",
    /// Joined by *and* to something that is told as done.
    Beside "beside",
    /// The participle may describe the noun after it: *Updated total*.
    Adjectival "adjectival",
    /// A base form that is a past form too: *set*.
    Ambiguous "ambiguous",
    /// *Status: cancelled*
    Status "status",
    Question "question",
    /// Someone else did it.
    Other "other",
    /// Under a heading or after a label of what is not done: a plan, options, history.
    Undone "undone",
    Bracketed "bracketed",
    /// The closing asks whether to go ahead.
    AsksToGoAhead "asks-to-go-ahead",
    /// A part of the answer itself: *a summary*, *the table below*.
    PartOfAnswer "part-of-answer",
    /// Others than the agent do it as often, and no known tool does it.
    WorldDoes "world-does",
}

/// A set of marks: `of![Have Been]`.
macro_rules! of {
    [$($mark:ident)*] => { const { Marks::of(&[$(Mark::$mark),*]) } };
}
pub(super) use of;

/// A set of marks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct Marks(u128);

impl Marks {
    pub(super) const fn of(marks: &[Mark]) -> Self {
        let mut set = 0;
        let mut at = 0;
        while at < marks.len() {
            set |= 1 << marks[at] as u32;
            at += 1;
        }
        Self(set)
    }

    pub(super) const fn has(self, mark: Mark) -> bool {
        self.0 & (1 << mark as u32) != 0
    }

    pub(super) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Those of them that stand in the other set too.
    pub(super) const fn among(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(super) fn add(&mut self, mark: Mark) {
        self.0 |= 1 << mark as u32;
    }

    pub(super) fn add_if(&mut self, holds: bool, mark: Mark) {
        if holds {
            self.add(mark);
        }
    }
}
