//! What goes wrong with the calls of a mock server.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use mcptest::eval::{Effect, FaultKind};

/// What goes wrong with every call of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MockFault {
    kind: Option<FaultKind>,
    /// Whether a cancelled call is answered all the same.
    pub(super) ignores_cancellation: bool,
}

impl MockFault {
    /// What becomes of a call; `number` counts the server's calls from 1.
    pub(super) fn effect_on(self, number: u64) -> Option<Effect> {
        match self.kind? {
            FaultKind::RecoverAfter { failures } if number > failures => None,
            FaultKind::Slow { delay_ms } => Some(Effect::Late(delay_ms)),
            _ => Some(Effect::Timeout),
        }
    }
}

const KINDS: &str = "none, hang, wedged, slow:<ms>, recover-after:<n>, reply-after-cancel:<ms>";

/// Why a text is no fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FaultError {
    /// There is no fault of this name.
    Unknown,
    /// The fault has no amount, and one is given.
    NoAmount { name: String },
    /// The fault needs an amount.
    NeedsAmount { name: String, unit: &'static str },
    /// The amount is no whole number of 1 or more.
    NotWhole { amount: String, unit: &'static str },
}

impl fmt::Display for FaultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("no such fault"),
            Self::NoAmount { name } => write!(f, "`{name}` has no amount"),
            Self::NeedsAmount { name, unit } => write!(f, "`{name}` needs a {unit}"),
            Self::NotWhole { amount, unit } => write!(f, "`{amount}` is no {unit}, 1 or more"),
        }?;
        write!(f, "; one of {KINDS}")
    }
}

impl Error for FaultError {}

impl FromStr for MockFault {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, FaultError> {
        let (name, amount) = match text.split_once(':') {
            Some((name, amount)) => (name, Some(amount)),
            None => (text, None),
        };
        let named = || name.to_owned();
        let whole = |unit| {
            let needs = || FaultError::NeedsAmount {
                name: named(),
                unit,
            };
            let amount = amount.ok_or_else(needs)?;
            let whole = amount.parse::<u64>().ok().filter(|amount| *amount > 0);
            whole.ok_or_else(|| FaultError::NotWhole {
                amount: amount.to_owned(),
                unit,
            })
        };
        let kind = match name {
            "none" | "hang" | "wedged" if amount.is_some() => {
                return Err(FaultError::NoAmount { name: named() });
            }
            "none" => None,
            "hang" => Some(FaultKind::Hang),
            "wedged" => Some(FaultKind::Wedged),
            "slow" | LATE => Some(FaultKind::Slow {
                delay_ms: whole("number of milliseconds")?,
            }),
            "recover-after" => Some(FaultKind::RecoverAfter {
                failures: whole("number of calls")?,
            }),
            _ => return Err(FaultError::Unknown),
        };
        Ok(Self {
            kind,
            ignores_cancellation: name == LATE,
        })
    }
}

/// The fault that answers late, also a call that was cancelled meanwhile.
const LATE: &str = "reply-after-cancel";

impl fmt::Display for MockFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            None => f.write_str("none"),
            Some(_) if self.ignores_cancellation => f.write_str(LATE),
            Some(kind) => f.write_str(&kind.name().replace('_', "-")),
        }?;
        let amount = |kind: FaultKind| kind.delay_ms().or(kind.failures());
        match self.kind.and_then(amount) {
            Some(amount) => write!(f, ":{amount}"),
            None => Ok(()),
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
            assert_eq!(MockFault::from_str(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_fault_says_what_is() {
        let said = |text| MockFault::from_str(text).unwrap_err().to_string();
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
        let fault = MockFault::from_str("recover-after:2").unwrap();
        let struck: Vec<_> = (1..=3).map(|number| fault.effect_on(number)).collect();
        assert_eq!(struck, [Some(Effect::Timeout), Some(Effect::Timeout), None]);
    }
}
