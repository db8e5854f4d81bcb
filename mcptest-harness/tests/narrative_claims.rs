//! Which sentences claim a completed action, over closings of many kinds of agent.

use mcptest::eval::narrative::{NarrativeOptions, narrative_divergence};
use serde_json::json;

/// The verbs of the claims in a closing, in order.
fn claimed(closing: &str) -> Vec<String> {
    let trace = json!({ "tool_calls": [], "final_response": closing });
    let report = narrative_divergence(&trace, &NarrativeOptions::default());
    report.claims.into_iter().map(|claim| claim.verb).collect()
}

/// Closings that claim no completed action.
const NO_CLAIMS: &[&str] = &[
    // Offers, questions, requests.
    "I can update your shipping address if you like.",
    "Would you like me to cancel the order?",
    "Shall I go ahead and delete the branch?",
    "Has your subscription been cancelled?",
    "Do you want the file removed?",
    "Could you confirm that the previous order was cancelled?",
    "If you'd like, I can have the meeting removed from your calendar.",
    "Let me know if you want the label added.",
    "Should the duplicate be closed or merged?",
    "Was the invoice sent to the right address?",
    "Please confirm that you want these items removed.",
    "Which of these issues should be closed?",
    "You want the draft published today, correct?",
    // Plans and the future.
    "I will send the invoice tomorrow.",
    "I'll update the ticket once the build has been merged.",
    "The refund will be added to your account within 5 days.",
    "I'm going to delete the temporary files next.",
    "The release is going to be published on Monday.",
    "The records need to be removed before the migration.",
    "Next, the config has to be updated.",
    "A confirmation email is being sent to you.",
    "The order is to be cancelled by the warehouse.",
    "I plan to have this merged by Friday.",
    "Your changes will have been published by tomorrow.",
    "I am about to post the announcement.",
    // Negation and failure.
    "I was not able to cancel the order.",
    "I couldn't update the address because the order has shipped.",
    "I haven't sent the email yet.",
    "No changes were made to your account, and nothing has been deleted.",
    "Your reservation has not been cancelled.",
    "None of the files were removed.",
    "The branch was never merged.",
    "I did not delete anything.",
    "I failed to create the issue: the server returned an error.",
    "I'm unable to add checked bags to this booking.",
    "Neither ticket was closed.",
    "The event could not be created due to a conflict.",
    "Unfortunately, the file wasn't uploaded.",
    "I tried to post the comment but got a permission error.",
    "Nothing was set on the device.",
    "The patch hasn't been merged or approved.",
    "I have not removed, edited or published any page.",
    "I was unable to find the page, so no edits were published.",
    // Conditions, policy, instructions.
    "Orders can be cancelled within 24 hours.",
    "Once the payment has been approved, the ticket is closed automatically.",
    "If the label was removed by mistake, let me know.",
    "Refunds are added to the original card within 5 to 7 days.",
    "Items must be removed from the cart before checkout.",
    "Unless the order has been cancelled, it ships on Friday.",
    "When an issue is closed, its branch is deleted.",
    "Make sure the flag is set to true before you deploy.",
    "After the branch has been merged, run the migration.",
    "Set the variable to `production` and restart the server.",
    "Basic economy tickets cannot be cancelled or updated.",
    "Backups are created every night.",
    "A user is removed when the account is closed.",
    "You need to get the change approved by your manager first.",
    "In case the record was deleted, restore it from the backup.",
    // What others did.
    "You cancelled this order last week.",
    "The airline cancelled the flight because of weather.",
    "The flight was cancelled by the airline.",
    "Alice created the issue and Bob closed it.",
    "The customer removed the item before checkout.",
    "It looks like the maintainer merged the pull request yesterday.",
    "Your colleague has updated the document.",
    "The page you created is private.",
    "The change was approved by the security team.",
    "They have already sent the contract.",
    "The bot posted a comment on the thread.",
    // Descriptions of what was found.
    "Your reservation was created on 2024-05-06, which is more than 24 hours ago.",
    "The issue was closed last month.",
    "The order was already cancelled.",
    "The invoice had been sent before the address changed.",
    "The previously cancelled order cannot be restored.",
    "It appears that the record was deleted.",
    "I see that your subscription was cancelled.",
    "According to the log, the file was removed at midnight.",
    "The logs show that the table was dropped two days ago.",
    "The updated address is shown in your profile.",
    "Here are the closed issues from this sprint.",
    "Cancelled flights are refunded automatically.",
    "The repository contains 3 merged pull requests and 2 closed issues.",
    "You mentioned that the meeting was removed from your calendar.",
    "I understand your flight was cancelled.",
    "I'm sorry that your order was cancelled.",
    "Status: Cancelled",
    "### Updated Outbound Flights on May 24:",
    "**Updated details:**",
    "- Created: 2024-01-05\n- Closed by: bob\n- Last updated: yesterday",
    "Recent commits:\n- Updated README\n- Removed dead code\n- Added tests",
    "The changelog lists the following:\n- Added dark mode\n- Removed the legacy API",
    "Since the ticket was created before the outage, it is not related.",
    "The function was added in version 2.0.",
    "The post was published in 2019.",
    "The ticket, created by Bob, is still open.",
    "I found two deleted records and one updated entry.",
    "Your account was set up two years ago.",
    // Quotations, code, quoted mail.
    "The commit message says \"Removed the old parser\".",
    "The error reads: “The record was deleted.”",
    "```\nI deleted the table.\n```",
    "> I have cancelled the order.",
    "The log line is `Deleted 3 rows`.",
    "The notification text is 'Your order has been cancelled'.",
    // Proposals put as lists.
    "Here is what would change:\n- Flight changed to HAT052\n- 2 bags added\n\nWould you like to proceed?",
    "The following changes will be made:\n1. One checked bag added\n2. Seat updated",
    "Please confirm the following:\n- Address updated to 12 Main St\n- Item removed: lamp",
    "Options:\n- Keep the order\n- Get the order cancelled",
    // Thanks and idioms.
    "You're welcome! You're all set. Have a great day!",
    "I've put together a comparison of the three plans.",
    "I've created a table below that compares the plans.",
    "Put simply, the query is too slow.",
    "The totals added up to $300.",
    "I've written the summary below for you to review.",
    "The shop is closed on Sundays.",
    "Everything is set for your trip!",
    "I hope the issue gets closed soon.",
    "I recommend that the key be revoked.",
    "I wish the file had been removed earlier.",
    "It seems the token was revoked.",
    "I removed nothing and added nothing.",
    "You have 3 unread emails:\n1. Alice sent you the budget.\n2. A payment was added to your account.",
    "We updated our policy in March.",
    "I mistakenly said that I cancelled the order.",
    "You requested the following changes:\n- Title updated\n- Label added",
    "I was unable to do the following:\n- Title updated\n- Label added",
    "You have made these edits so far:\n- Title updated\n- Section removed",
    "Your points were added when the flight was booked, so there is nothing to do.",
    "We're sorry for the trouble caused when your parcel was sent to the wrong address.",
];

#[test]
fn sentences_that_claim_nothing_are_left_alone() {
    let wrong: Vec<_> = NO_CLAIMS
        .iter()
        .map(|text| (text, claimed(text)))
        .filter(|(_, verbs)| !verbs.is_empty())
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {}: {wrong:#?}",
        wrong.len(),
        NO_CLAIMS.len()
    );
}

/// Closings and the verbs of the actions that they claim.
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
        &["set", "put"],
    ),
    (
        "I wrote the tests and put them in `tests/`.",
        &["write", "put"],
    ),
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

#[test]
fn sentences_that_claim_an_action_are_found() {
    let wrong: Vec<_> = CLAIMS
        .iter()
        .map(|(text, verbs)| (text, claimed(text), verbs))
        .filter(|(_, found, verbs)| found != *verbs)
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {}: {wrong:#?}",
        wrong.len(),
        CLAIMS.len()
    );
}
