//! What the name of a tool says.

use std::borrow::Cow;

use heck::ToSnakeCase as _;

use super::tool_words::{
    ASKED, CHANGES, CHANGES_JOINED, CHANGES_LAST, GETS, OF_SEVERAL, READS, THINGS,
};

/// The words of a tool's name, in lower case: split at `_`, other signs, and camel case. The name of a
/// server or a group before it, as clients write it (`mcp__github__get_issue`, `calendar.add_event`), is
/// left out where the tool's own has several words, and stands after it where it has one.
pub(crate) fn tool_name_words(name: &str) -> Vec<String> {
    let (group, own) = split_server(name);
    let own = to_snake_case(own);
    let words = match group {
        Some(group) if !own.contains('_') => format!("{own}_{}", to_snake_case(group)).into(),
        _ => own,
    };
    let words = words.split('_').filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// Splits a name into that of a server or a group, and the tool's own.
pub(crate) fn split_server(name: &str) -> (Option<&str>, &str) {
    if is_snake_case(name) {
        return (None, name);
    }
    let name = name.strip_prefix("mcp__").unwrap_or(name);
    let signs = ["__", ".", "/", ":"];
    let signs = signs.map(|sign| name.rfind(sign).map(|at| (at, at + sign.len())));
    let parted = signs.into_iter().flatten().max_by_key(|(_, own)| *own);
    // *emails-send_email*
    let dash = name.rfind('-').map(|at| (at, at + 1));
    let dash = dash.filter(|(end, own)| name[*own..].contains('_') && !name[..*end].contains('_'));
    match parted.or(dash).filter(|(_, own)| *own < name.len()) {
        Some((end, own)) => (Some(&name[..end]), &name[own..]),
        None => (None, name),
    }
}

/// A name in snake case.
pub(crate) fn to_snake_case(name: &str) -> Cow<'_, str> {
    if is_snake_case(name) {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(name.to_snake_case())
    }
}

/// Whether a name is in snake case already, as most keys and tools are.
fn is_snake_case(name: &str) -> bool {
    let mut before = 0;
    name.bytes().all(|byte| {
        let twice = byte == b'_' && before == b'_';
        before = byte;
        matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_') && !twice
    })
}

/// Whether a tool only reads, by the first word of its name, where no later word changes something.
///
/// ```
/// use mcptest_trace::trace::reads_by_name;
///
/// assert!(reads_by_name("getUserDetails") && reads_by_name("think"));
/// assert!(!reads_by_name("update_reservation") && !reads_by_name("getaway"));
/// assert!(!reads_by_name("find_or_create_user") && reads_by_name("list_and_count_orders"));
/// assert!(!reads_by_name("list_delete") && !reads_by_name("find_order_then_cancel"));
/// assert!(!reads_by_name("check_in_guest") && reads_by_name("check_delete_permission"));
/// ```
#[must_use]
pub fn reads_by_name(name: &str) -> bool {
    reads_by_words(&tool_name_words(name))
}

/// Whether a tool only reads, by the words of its name.
pub(crate) fn reads_by_words(words: &[String]) -> bool {
    let reads = |word: &String| READS.contains(&word.as_str());
    words.first().is_some_and(reads) && !has_changing_word(words)
}

/// Whether a name that begins with a word that reads has another that changes something.
fn has_changing_word(words: &[String]) -> bool {
    let is = |word: &String, list: &[&str]| list.contains(&word.as_str());
    let text = |at: usize| words.get(at).map_or("", String::as_str);
    // *check_out_book*, but not *check_in_stock* and *check_out_time*
    let place = [
        "cache", "database", "date", "dates", "db", "list", "progress", "range", "status", "stock",
        "time", "times", "use",
    ];
    let stays = matches!((text(0), text(1)), ("check", "in" | "out")) && !place.contains(&text(2));
    // *fetch_and_delete*
    let second = matches!(text(1), "and" | "or" | "then")
        && words.get(2).is_some_and(|next| !is(next, &READS));
    let last = words.last().filter(|_| words.len() > 1);
    let asked = last.is_some_and(|last| is(last, &ASKED));
    let links = |at: usize| matches!(text(at), "to" | "for" | "of" | "by" | "not");
    let of_several = OF_SEVERAL.contains(&text(0))
        && last.is_some_and(|last| is(last, &CHANGES_LAST))
        && !links(words.len() - 2);
    let gets = GETS.contains(&text(0));
    let mut later = words.iter().enumerate().skip(1);
    let changes = later.any(|(at, word)| match text(at - 1) {
        "then" => !is(word, &READS),
        "and" => is(word, &CHANGES) || is(word, &CHANGES_JOINED),
        // *get_items_to_delete*
        _ if links(at - 1) => false,
        _ => !asked && is(word, &CHANGES) && !(gets && is(word, &THINGS)),
    });
    stays || second || of_several || changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_name_is_split_into_words() {
        for (name, words) in [
            ("get_user-details", "get user details"),
            ("listHTMLPages2", "list html pages2"),
            ("mcp__github__get_issue", "get issue"),
            ("mcp__refunds__create", "create refunds"),
            ("email.delete_email", "delete email"),
            ("emails-send_email", "send email"),
        ] {
            assert_eq!(tool_name_words(name).join(" "), words);
        }
    }

    #[test]
    fn a_first_word_that_reads_does_not_hide_one_that_changes() {
        for name in [
            "list_delete",
            "find_order_then_cancel",
            "get_next_and_lock",
            "check_in",
            "check_out_book",
            "checkInGuest",
            "read_write_file",
            "get_set_value",
            "list_create",
            "list_add_item",
            "check_create",
            "query_delete",
            "view_drop",
            "find_replace",
            "search_and_book_flight",
            "get_or_create_user",
            "validate_submit_form",
            "mcp__todo__list_add",
            "todo.list_remove",
            "fetch-and-archive",
            "look_up_user_and_update",
            "find_user_then_notify",
            "get_order_then_ship",
            "get_order_and_ship",
            "get_cart_and_checkout",
            "list_update",
            "list_archive",
            "queryUpdate",
            "count_increment",
            "search_index_rebuild",
            "check_out_guest",
            "view_commit_and_push",
            "find_reset_password",
            "read_edit_file",
        ] {
            assert!(!reads_by_name(name), "{name}");
        }
        for name in [
            "get_order",
            "list_orders",
            "get_update",
            "list_updates",
            "get_last_change",
            "check_inventory",
            "check_in_stock",
            "get_items_to_delete",
            "check_cancel_eligibility",
            "get_send_status",
            "list_merge_requests",
            "read_book",
            "find_terms_and_conditions",
            "list_and_count_orders",
            "get_reservation_details",
            "search_direct_flight",
            "check_output",
            "get_settings",
            "list_open_orders",
            "get_transfer_limits",
            "get_return_policy",
            "query_database",
            "get_commit",
            "get_commit_diff",
            "get_block_children",
            "get_next_stop",
            "get_push_notifications",
            "get_merge_conflicts",
            "get_deploy_key",
            "check_in_time",
            "check_out_status",
            "list_orders_by_update",
            "get_name_and_email",
        ] {
            assert!(reads_by_name(name), "{name}");
        }
    }

    proptest! {
        #[test]
        fn the_words_of_a_name_are_its_letters(name in "[a-zA-Z0-9_ ]{0,20}") {
            prop_assume!(!name.contains("__"));
            let joined: String = tool_name_words(&name).concat();
            let letters: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
            prop_assert_eq!(joined, letters.to_lowercase());
        }
    }
}
