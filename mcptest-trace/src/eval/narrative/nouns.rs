//! Nouns that name the same thing, nothing in particular, or money.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::words::{Class, class, is_month_or_day, listed};

/// Nouns that people and tools use for one another, a group a line.
const SAME: [&str; 25] = [
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
    "file document script readme module page note config configuration object blob",
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
    "outofoffice vacation responder autoreply ooo",
    "song track music playlist",
];

/// The groups that the noun stands in, a bit each.
fn groups(noun: &str) -> u32 {
    static GROUPS: LazyLock<HashMap<&'static str, u32>> = LazyLock::new(|| {
        let mut found = HashMap::new();
        for (index, group) in SAME.iter().enumerate() {
            for noun in group.split_ascii_whitespace() {
                *found.entry(noun).or_default() |= 1 << index;
            }
        }
        found
    });
    GROUPS.get(noun).copied().unwrap_or_default()
}

/// Whether two singular nouns name the same thing: equal, of one group, or one short for the other.
pub(super) fn same(left: &str, right: &str) -> bool {
    let short = |short: &str, long: &str| {
        short.len() >= 3 && long.len() >= 6 && long.len() > short.len() && long.starts_with(short)
    };
    if left.contains('-') || right.contains('-') {
        return same(&left.replace('-', ""), &right.replace('-', ""));
    }
    left == right || short(left, right) || short(right, left) || groups(left) & groups(right) != 0
}

/// Whether the noun stands for a thing of any name, as in `exchange_items`.
pub(super) fn is_any_thing(noun: &str) -> bool {
    listed("item product thing object entity resource element", noun)
}

/// Whether the noun names a kind of thing or a part of a record that tools keep apart, so that it
/// is no name of an item or of a piece of text.
pub(super) fn is_grouped(noun: &str) -> bool {
    const PARTS: &str = "address payment method card name phone password setting status flight seat cabin passenger         insurance certificate subscription plan quantity date time delivery shipping database column         branch commit test spec documentation docs doc readme comment changelog migration workflow dockerfile pipeline webhook server service job";
    const GOODS: &str =
        "light lamp bulb thermostat bag luggage suitcase photo picture image card story";
    is_money(noun) || listed(PARTS, noun) || (!listed(GOODS, noun) && groups(noun) != 0)
}

/// Whether the noun is money that is paid or paid back.
pub(super) fn is_money(noun: &str) -> bool {
    static MONEY: Class = LazyLock::new(|| {
        class(
            "refund credit amount difference fund money balance payment charge fee price cost reimbursement \
        discount",
        )
    });
    MONEY.contains(noun)
}

/// Whether the noun names nothing in particular.
pub(super) fn is_generic(noun: &str) -> bool {
    static GENERIC: Class = LazyLock::new(|| {
        class(
            "change detail information info request thing everything work part rest one both all following \
        modification action step total amount number version value content copy set list option result support couple \
        lot name two three four five it this that you operation selection choice count other",
        )
    });
    GENERIC.contains(noun) || is_month_or_day(noun)
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
