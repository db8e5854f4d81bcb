//! What goes wrong with the calls of a mock server.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// What goes wrong with every call of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    /// No call is ever answered.
    Hang,
    /// As [`Self::Hang`]: the backend is deadlocked, where that one is a network that stalls.
    Wedged,
    /// Every call is answered late.
    Slow(Duration),
    /// The first calls are never answered, later ones at once.
    RecoverAfter(u64),
    /// Every call is answered late, also one that was cancelled meanwhile.
    ReplyAfterCancel(Duration),
}

impl Fault {
    /// What becomes of a call; `number` counts the server's calls from 1.
    pub(super) fn strikes(self, number: u64) -> Strike {
        match self {
            Self::Hang | Self::Wedged => Strike::Never,
            Self::RecoverAfter(calls) if number <= calls => Strike::Never,
            Self::None | Self::RecoverAfter(_) => Strike::Not,
            Self::Slow(delay) | Self::ReplyAfterCancel(delay) => Strike::After(delay),
        }
    }

    /// Whether a cancelled call is answered all the same.
    pub(super) const fn ignores_cancellation(self) -> bool {
        matches!(self, Self::ReplyAfterCancel(_))
    }
}

/// When a call is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strike {
    Not,
    Never,
    After(Duration),
}

const KINDS: &str = "none, hang, wedged, slow:<ms>, recover-after:<n>, reply-after-cancel:<ms>";

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, amount) = match text.split_once(':') {
            Some((kind, amount)) => (kind, Some(amount)),
            None => (text, None),
        };
        let known = |what: &str| format!("{what}; one of {KINDS}");
        let whole = |unit: &str| {
            let amount = amount.ok_or_else(|| known(&format!("`{kind}` needs a {unit}")))?;
            let whole = amount.parse::<u64>().ok().filter(|amount| *amount > 0);
            whole.ok_or_else(|| known(&format!("`{amount}` is no {unit}, 1 or more")))
        };
        let milliseconds = || whole("number of milliseconds").map(Duration::from_millis);
        match kind {
            "none" | "hang" | "wedged" if amount.is_some() => {
                Err(known(&format!("`{kind}` has no amount")))
            }
            "none" => Ok(Self::None),
            "hang" => Ok(Self::Hang),
            "wedged" => Ok(Self::Wedged),
            "slow" => milliseconds().map(Self::Slow),
            "recover-after" => whole("number of calls").map(Self::RecoverAfter),
            "reply-after-cancel" => milliseconds().map(Self::ReplyAfterCancel),
            _ => Err(known("no such fault")),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Hang => f.write_str("hang"),
            Self::Wedged => f.write_str("wedged"),
            Self::Slow(delay) => write!(f, "slow:{}", delay.as_millis()),
            Self::RecoverAfter(calls) => write!(f, "recover-after:{calls}"),
            Self::ReplyAfterCancel(delay) => write!(f, "reply-after-cancel:{}", delay.as_millis()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        for text in [
            "none",
            "hang",
            "wedged",
            "slow:250",
            "recover-after:2",
            "reply-after-cancel:40",
        ] {
            assert_eq!(Fault::from_str(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_fault_says_what_is() {
        let said = |text| Fault::from_str(text).unwrap_err();
        assert_eq!(said("slow"), known("`slow` needs a number of milliseconds"));
        assert_eq!(
            said("slow:2s"),
            known("`2s` is no number of milliseconds, 1 or more")
        );
        assert_eq!(
            said("recover-after:0"),
            known("`0` is no number of calls, 1 or more")
        );
        assert_eq!(said("hang:3"), known("`hang` has no amount"));
        assert_eq!(said("recover_after:3"), known("no such fault"));
    }

    fn known(what: &str) -> String {
        format!("{what}; one of {KINDS}")
    }

    #[test]
    fn the_first_calls_hang_until_it_recovers() {
        let fault = Fault::RecoverAfter(2);
        let struck: Vec<_> = (1..=3).map(|number| fault.strikes(number)).collect();
        assert_eq!(struck, [Strike::Never, Strike::Never, Strike::Not]);
    }
}
