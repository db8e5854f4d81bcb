//! What a claim names besides identifiers, and of which kind it is.

/// What a claim names, as it is spelt.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Detail {
    pub(crate) kind: Kind,
    pub(crate) text: String,
    /// Whether others of its kind stand beside it in a list: *orders 7 and 8*.
    pub(crate) listed: bool,
}

/// What a detail is; it is compared with nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// A number after its noun, which is in the singular: *order 8*.
    Numbered(String),
    /// An identifier in a list.
    Listed,
    Mail,
    Url,
    /// A path to a file.
    Path,
    /// An amount of money.
    Amount,
    /// A day: *May 3*, *2024-05-03*.
    Day,
    /// How many: *2 units*.
    Count,
    /// The first number of what something was changed to: *to 5 Elm Street*.
    NewNumber,
    /// Somebody to whom something was sent, by one name: *to Bob*.
    Person,
}

impl Kind {
    /// Whether it names one of several things to which a claim is done.
    pub(crate) fn is_thing(&self) -> bool {
        matches!(
            self,
            Self::Numbered(_) | Self::Listed | Self::Mail | Self::Path
        )
    }
}
