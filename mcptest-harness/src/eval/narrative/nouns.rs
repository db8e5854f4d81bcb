//! Nouns that name the same thing, nothing in particular, or money.

use super::words::{is_month_or_day, listed};

/// Nouns that people and tools use for one another, a group a line.
const SAME: [&str; 24] = [
    "email mail message notification reminder confirmation reply response invitation invite note alert announcement \
        notice sms text dm summary report letter receipt newsletter",
    "event meeting appointment calendar invitation invite call session reminder slot sync standup lunch interview",
    "issue ticket bug task todo case card story incident reminder",
    "pr pull",
    "repository repo project",
    "comment reply note review message response feedback",
    "reservation booking ticket trip itinerary appointment",
    "order purchase",
    "user account profile customer member person contact subscriber employee",
    "file document script readme module page note config configuration",
    "page document article post wiki entry section block",
    "folder directory",
    "record row entry document item table data",
    "photo image picture attachment file media asset",
    "label tag",
    "light lamp bulb",
    "thermostat temperature climate heating",
    "bag baggage luggage suitcase",
    "permission access role privilege grant token credential key share",
    "release version",
    "item product",
    "channel room group team conversation",
    "lead deal opportunity contact",
    "song track music playlist",
];

/// Whether two singular nouns name the same thing: equal, of one group, or one short for the other.
pub(super) fn same(left: &str, right: &str) -> bool {
    let short = |short: &str, long: &str| {
        short.len() >= 3 && long.len() >= 6 && long.len() > short.len() && long.starts_with(short)
    };
    left == right
        || short(left, right)
        || short(right, left)
        || SAME
            .iter()
            .any(|group| listed(group, left) && listed(group, right))
}

/// Whether the noun is money that is paid or paid back.
pub(super) fn is_money(noun: &str) -> bool {
    const MONEY: &str = "refund credit amount difference fund money balance payment charge fee price cost reimbursement \
        discount";
    listed(MONEY, noun)
}

/// Whether the noun names nothing in particular.
pub(super) fn is_generic(noun: &str) -> bool {
    const GENERIC: &str = "change detail information info request thing everything work part rest one both all following \
        modification action step total amount number version value content copy set list option result support couple \
        lot name two three four five it this that you operation selection choice count other";
    listed(GENERIC, noun) || is_month_or_day(noun)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_forms_and_groups_name_the_same() {
        assert!(same("bag", "baggage") && same("repo", "repository") && same("meeting", "event"));
        assert!(!same("bag", "flight") && !same("car", "card"));
    }
}
