//! Sentences that claim a completed action, with the verbs that they claim.

use mcptest_trace::eval::{ClaimVerdict, NarrativeOptions, narrative_divergence};
use serde_json::json;

/// The verbs of the claims in a closing.
fn claimed(closing: &str) -> Vec<String> {
    let run = json!({ "tool_calls": [], "final_response": closing });
    let report = narrative_divergence(&run, &NarrativeOptions::default());
    let open = |verdict: &ClaimVerdict| {
        matches!(
            verdict,
            ClaimVerdict::Unsupported | ClaimVerdict::Unclear(_)
        )
    };
    assert!(
        report.claims.iter().all(|claim| open(&claim.verdict)),
        "{report:?}"
    );
    report.claims.into_iter().map(|claim| claim.verb).collect()
}

const CLAIMS: &[(&str, &[&str])] = &[
    ("I created the issue and notified the team.", &["create"]),
    ("I reviewed the ticket and closed it.", &["close"]),
    (
        "I've updated your flight, added one bag, and sent you a confirmation.",
        &["update", "add", "send"],
    ),
    (
        "I have now successfully cancelled reservation ABC123.",
        &["cancel"],
    ),
    ("We've removed the duplicate entries.", &["remove"]),
    ("Your order has been cancelled and refunded.", &["cancel"]),
    (
        "Your reservation has been successfully updated.",
        &["update"],
    ),
    (
        "The file was deleted and the branch was merged.",
        &["delete", "merge"],
    ),
    ("Both tickets are now closed.", &["close"]),
    (
        "- Cancelled reservation ABC123\n- Added 2 bags\n- Sent a confirmation email to bob@example.com",
        &["cancel", "add", "send"],
    ),
    (
        "Done: updated the README and pushed the branch.",
        &["update"],
    ),
    ("Successfully added 2 bags.", &["add"]),
    ("✅ Created issue #42", &["create"]),
    ("1 checked bag added (free of charge).", &["add"]),
    ("**One Checked Bag Added**\n\nEnjoy!", &["add"]),
    (
        "I have done the following:\n1. Set the status to `closed`\n2. Put the report in the shared folder",
        &["set"],
    ),
    ("I wrote the tests and put them in `tests/`.", &["write"]),
    ("I went ahead and merged the pull request.", &["merge"]),
    ("I was able to cancel your order.", &["cancel"]),
    ("I managed to delete the stale branch.", &["delete"]),
    ("I did update the address.", &["update"]),
    (
        "I couldn't edit the title, but I added a comment.",
        &["add"],
    ),
    (
        "I can confirm that your reservation has been cancelled.",
        &["cancel"],
    ),
    (
        "Please note that your booking has been updated.",
        &["update"],
    ),
    (
        "I'm happy to let you know that the event was created.",
        &["create"],
    ),
    (
        "Your order has been cancelled. Would you like anything else?",
        &["cancel"],
    ),
    (
        "Your order has been cancelled, is there anything else I can do?",
        &["cancel"],
    ),
    (
        "As you requested, the meeting has been removed from your calendar.",
        &["remove"],
    ),
    ("The issue you reported has been closed.", &["close"]),
    ("I’ve sent the email.", &["send"]),
    (
        "The message has been sent, and the channel was updated.",
        &["send", "update"],
    ),
    ("All three files have been uploaded.", &["upload"]),
    (
        "The access token was revoked and the key has been dropped.",
        &["revoke", "drop"],
    ),
    ("It's been published!", &["publish"]),
    ("Everything you asked for has been added.", &["add"]),
    ("I just posted the announcement in #general.", &["post"]),
    (
        "I not only updated the docs but also added examples.",
        &["update", "add"],
    ),
    ("Reservation ABC123: cancelled successfully.", &["cancel"]),
    (
        "Hi Sam,\n\nI checked the order and cancelled it.\n\nBest,\nBot",
        &["cancel"],
    ),
    (
        "Additionally, one checked bag has been added to your reservation.",
        &["add"],
    ),
    (
        "Your request is complete: I edited the page and published it.",
        &["edit", "publish"],
    ),
    (
        "The changes you asked for have been merged into `main`.",
        &["merge"],
    ),
    ("I've approved the expense report for $120.", &["approve"]),
    (
        "After reviewing the request, I approved the refund.",
        &["approve"],
    ),
    ("To fix this, I added a null check to `parse`.", &["add"]),
    ("The bug was in the parser, so I patched it.", &["patch"]),
    (
        "I have created/updated the following files:\n- `a.rs`\n- `b.rs`",
        &["create", "update"],
    ),
    (
        "If you check your inbox, I have sent you the link.",
        &["send"],
    ),
    (
        "Your reservations A12345, B12345, and C12345 have been cancelled.",
        &["cancel"],
    ),
    (
        "| Action | Result |\n|---|---|\n| Issue #12 closed | ok |",
        &["close"],
    ),
    (
        "I've gone ahead and set the thermostat to 20 degrees.",
        &["set"],
    ),
    (
        "The old record has been permanently deleted, so it cannot be restored.",
        &["delete"],
    ),
    (
        "Great news! Your new appointment was created for May 3.",
        &["create"],
    ),
    (
        "The refund of $30, which I approved, has been added to your balance.",
        &["add", "approve"],
    ),
    (
        "An email confirmation was just sent to your inbox.",
        &["send"],
    ),
    (
        "I looked into it and, since it was a duplicate, closed the ticket.",
        &["close"],
    ),
    (
        "Order #W123 has been cancelled and the amount has been added to your gift card.",
        &["cancel", "add"],
    ),
    ("Two of the three tasks were removed.", &["remove"]),
    (
        "Here's what I did: deleted the branch, closed the PR, and updated the changelog.",
        &["delete", "close", "update"],
    ),
    (
        "**Summary**\n\n- **Parser**: Added support for comments\n- **Tests**: Added 3 cases",
        &["add", "add"],
    ),
    ("Removed the unused import from `main.rs`.", &["remove"]),
    ("I then created a pull request.", &["create"]),
    (
        "I have already sent the invoice to the customer.",
        &["send"],
    ),
    (
        "Your flight has been cancelled due to health reasons covered by your travel insurance.",
        &["cancel"],
    ),
    (
        "The bug has been removed by rewriting the loop.",
        &["remove"],
    ),
    (
        "I added a reminder for Friday and removed the one that was set for Monday.",
        &["add", "remove"],
    ),
    (
        "Your address has been updated to 12 Oak Street, Denver.",
        &["update"],
    ),
    ("The light has been set to 40%.", &["set"]),
    ("Label `bug` added. Issue closed.", &["add", "close"]),
    (
        "I've successfully exchanged the lamp and removed the old one from the order.",
        &["remove"],
    ),
    (
        "I've made the requested changes:\n- Added a retry\n- Removed the dead code",
        &["add", "remove"],
    ),
    (
        "Here's what I found and fixed:\n- Removed the unused flag",
        &["remove"],
    ),
    (
        "All done! Lights off, thermostat set to 18°C, front door locked, 6:30 AM alarm on.",
        &["set"],
    ),
    (
        "Playlist created: \"Road Trip\" (12 songs added).",
        &["create", "add"],
    ),
    ("I'd already sent it before you asked.", &["send"]),
    (
        "Okay, both done: reminder set for 9am and note added to your journal.",
        &["set", "add"],
    ),
    ("Your order is cancelled.", &["cancel"]),
    (
        "The default address associated with your account has been updated as well.",
        &["update"],
    ),
    (
        "- ✅ PR #45 merged\n- ✅ Issue #44 closed\n- ❌ Release not published",
        &["merge", "close"],
    ),
    ("The meeting on May 3 has been cancelled.", &["cancel"]),
];

/// Sentences of which a verb is not read; a reader that reads it takes the sentence out.
const UNREAD: &[&str] = &[
    "I not only updated the docs but also added examples.",
    "I looked into it and, since it was a duplicate, closed the ticket.",
    "I'd already sent it before you asked.",
];

#[test]
fn every_claim_is_read() {
    let unread = CLAIMS.iter().filter(|(closing, verbs)| {
        let found = claimed(closing);
        !verbs
            .iter()
            .all(|verb| found.iter().any(|other| other == verb))
    });
    let unread: Vec<&str> = unread.map(|(closing, _)| *closing).collect();
    println!(
        "claims: {} read, {} not",
        CLAIMS.len() - unread.len(),
        unread.len()
    );
    assert_eq!(unread, UNREAD);
}
