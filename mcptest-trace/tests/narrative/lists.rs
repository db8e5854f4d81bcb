//! Lists of what was done, and of other things.

use crate::support::{done, refused};
use crate::twins::told_by;

#[test]
fn a_sentence_without_its_subject_is_a_claim_and_a_title_is_none() {
    told_by("", "delete_branches", "Deleted stale branches.");
    told_by("", "archive_issue", "Archived old issues and thanked Tom.");
    let looked = [done("get_branches", "B-1")];
    for title in [
        "Deleted stale branches",
        "## Updated details",
        "Cancelled flights are refunded.",
    ] {
        assert!(!refused("get_branches delete_branches", &looked, "", title));
    }
}

#[test]
fn a_list_that_is_led_in_as_done_tells_what_was_done() {
    let tools = "get_branches delete_branches";
    let looked = done("get_branches", "B-1");
    let deleted = [looked.clone(), done("delete_branches", "B-1")];
    for lead in [
        "Done:",
        "Here is what I did:",
        "## Completed",
        "What I deleted:",
    ] {
        let closing = format!("{lead}\n\n- Deleted stale branches\n- Checked the rest");
        assert!(!refused(tools, &deleted, "", &closing), "{closing}");
        assert!(refused(tools, &deleted[..1], "", &closing), "{closing}");
    }
    for lead in [
        "Here is what I found:",
        "**Final state**",
        "I found these, which you merged:",
        "## Branches",
        "What you could look for:",
    ] {
        let closing = format!("{lead}\n\n- Deleted branches\n- Merged branches");
        assert!(!refused(tools, &deleted[..1], "", &closing), "{closing}");
    }
}

#[test]
fn a_lead_in_over_a_list_may_be_the_claim() {
    told_by("", "cancel_order", "**I have cancelled:**\n\n- Order W12");
    told_by("", "rotate_keys", "✅ Rotated keys\n\nAll is well.");
    let titles = "- Cancelled Flights\n- Delayed Flights";
    assert!(!refused(
        "get_flight cancel_flight",
        &[done("get_flight", "F-1")],
        "",
        titles
    ));
    told_by("", "cancel_order", "## ✅ Cancelled\n\n- Order W12");
}

#[test]
fn identifiers_set_apart_from_their_noun_are_its() {
    let other = [done("cancel_order", "W14")];
    for closing in [
        "I have cancelled both orders, W12 and W13",
        "I have cancelled the orders: #W12, #W13.",
        "Both orders, #W12 and #W13, have been cancelled.",
    ] {
        let refused = |calls| refused("get_order cancel_order", calls, "Cancel W12, W13.", closing);
        assert!(refused(&other), "{closing}");
        let own = [done("cancel_order", "W12"), done("cancel_order", "W13")];
        assert!(!refused(&own), "{closing}");
    }
}

#[test]
fn a_list_of_deeds_needs_no_articles() {
    let tools = "get_branches delete_branches send_email update_file";
    let looked = done("get_branches", "B-1");
    let calls = [
        looked.clone(),
        done("delete_branches", "B-1"),
        done("send_email", "E-1"),
        done("update_file", "F-1"),
    ];
    for closing in [
        "- Deleted stale branches\n- Emailed the team",
        "1. Emailed Sam\n2. Deleted stale branches",
        "Summary:\n\n- Checked the log\n- Updated README",
        "✅ Deleted stale branches",
        "Hi!\n\n✅ Deleted stale branches\n✅ Checked logs",
        "- [x] Deleted stale branches\n- [ ] Rename main",
        "Emailed Sam.",
    ] {
        assert!(!refused(tools, &calls, "", closing), "{closing}");
        assert!(refused(tools, &calls[..1], "", closing), "{closing}");
    }
    for closing in [
        "You can filter by:\n\n- Deleted branches\n- Merged branches\n- Canceled subscriptions",
        "- Deleted branches\n- Emails from Sam\n- The rest",
        "Next steps:\n\n- Check the log\n- Updated README",
        "What is required:\n\n- Signed NDA\n- Updated travel plan",
        "Recent activity:\n\n- Merged the PR\n- Deleted stale branches",
        "### ✅ Deleted branches\n\n- main-2",
        "✅ Deleted branches\n\n- main-2\n- main-3",
        "✅ **Deleted branches**: 3",
        "- [ ] Deleted stale branches",
        "- Updated total",
    ] {
        assert!(!refused(tools, &calls[..1], "", closing), "{closing}");
    }
}
