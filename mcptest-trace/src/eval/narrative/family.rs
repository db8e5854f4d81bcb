//! Which verbs name the same action, and what kind of tool a name or a command tells of.
//!
//! General vocabulary of software tools; nothing here belongs to one domain.

use super::words::listed;

const CREATING: &str = "add insert new make generate register schedule book open post submit draft compose start init \
    provision build touch mkdir write save place file";
const ADDING: &str = "create insert append attach include post register schedule invite upload push new assign enroll \
    save apply";
const CHANGING: &str = "update edit patch modify change set replace adjust alter upsert save amend reschedule rename \
    revise put rewrite overwrite correct fix configure apply move upgrade exchange swap switch";
const SETTING: &str = "set put update modify change edit patch configure adjust assign add insert move upsert create \
    schedule enable disable write place save turn mark";
const REMOVING: &str = "delete remove destroy drop purge erase clear trash unset rm unassign detach clean prune \
    terminate truncate uninstall discard archive exclude unlink rmdir";
const SENDING: &str = "post email notify message reply forward submit mail sms respond invite dispatch deliver transmit \
    share alert remind sendmail text chat publish broadcast resend";
const PUBLISHING: &str = "post publish send add create comment reply share submit write release deploy push tweet \
    message broadcast";
const WRITING: &str = "create edit update save put append post draft compose add overwrite insert generate replace send";

/// Verbs under which tools offer the claimed action itself, separated by spaces.
fn synonyms(verb: &str) -> &'static str {
    match verb {
        "create" => CREATING,
        "add" => ADDING,
        "insert" => "add create append put upsert push",
        "update" | "edit" | "patch" => CHANGING,
        "set" | "put" => SETTING,
        "delete" | "remove" | "destroy" | "drop" => REMOVING,
        "revoke" => "remove delete withdraw rescind disable invalidate deactivate unshare unassign",
        "send" => SENDING,
        "post" | "publish" => PUBLISHING,
        "write" => WRITING,
        "upload" => "put push add import store save attach write create sync copy",
        "merge" => "combine squash rebase join consolidate",
        "close" => "resolve complete finish shut",
        "cancel" => "abort void terminate unschedule unsubscribe withdraw",
        "approve" => "accept confirm authorize authorise review grant allow",
        _ => "",
    }
}

/// Whether a tool with the word in its name offers the claimed action under another verb.
pub(super) fn is_synonym(verb: &str, word: &str) -> bool {
    listed(synonyms(verb), word)
}

/// Whether an action of this verb may be done by changing what holds or contains the object, so
/// that a tool with another verb does it when its name or arguments name the object.
pub(super) fn done_by_changing(verb: &str) -> bool {
    listed(
        "add insert remove delete drop update edit patch set put create write upload",
        verb,
    )
}

/// Whether a tool with this word in its name can never be the way to do the claimed action.
pub(super) fn opposes(verb: &str, tool: &str) -> bool {
    const TAKES_AWAY: &str =
        "delete remove destroy drop cancel revoke close archive purge trash unset";
    const SAYS: &str = "send email notify transfer message reply escalate handoff forward";
    const BRINGS: &str = "create add insert post book append new";
    let other = if takes_away(verb) { BRINGS } else { TAKES_AWAY };
    listed(other, tool) || listed(SAYS, tool)
}

/// Whether the claimed action takes something away.
pub(super) fn takes_away(verb: &str) -> bool {
    listed("delete remove drop destroy", verb)
}

/// Whether a word of a tool's name, or a command, only looks.
pub(super) fn is_reading(word: &str) -> bool {
    const READING: &str = "get list search find read fetch query lookup view show describe check calculate think count \
        browse retrieve inspect look select scan status validate verify preview open glob grep ls cat head tail stat \
        explain compute download export compare diff summarize analyze is has can estimate simulate load ask wait sleep \
        ping navigate screenshot tree info help version watch monitor peek detect";
    listed(READING, word)
}

/// Whether a tool with this word in its name runs whatever it is told to.
pub(super) fn is_executor(word: &str) -> bool {
    const EXECUTOR: &str = "bash shell exec execute run terminal command cmd python ipython script console sql \
        powershell code repl psql sqlite eval git gh cli kubectl http curl graphql jupyter query";
    listed(EXECUTOR, word)
}

/// Whether a command, in lower case, changes something: a word of a shell, of SQL, of HTTP or of a
/// program that does.
pub(super) fn changes(command: &str) -> bool {
    const SIGNS: &str = ">|rm |mv |cp |sed -i|sed -e|tee |mkdir|touch |git commit|git push|git merge|git add|git rm|\
        git apply|git branch|git checkout -b|git revert|git tag|git mv|patch|write|insert |update |delete|create |drop |\
        alter |truncate|post|put |install|merge|close|perl -i|chmod|ln |dd |unlink|remove|gh issue|gh pr|apply|set |\
        add |replace(";
    SIGNS.split('|').any(|sign| command.contains(sign))
}

/// Whether a command, in lower case, writes text into a file.
pub(super) fn writes_text(command: &str) -> bool {
    [
        "sed -i",
        "<<",
        "| tee ",
        "patch",
        "perl -i",
        ".write(",
        "write_text",
        "writefile",
    ]
    .iter()
    .any(|sign| command.contains(sign))
}

/// Whether a tool's name has a verb for the same action.
pub(super) fn is_synonymous(name: &[String], topics: &[String], verb: &str) -> bool {
    // Words that are nouns elsewhere in a name: `order_replacement_card`, but `cancel_order`.
    let ships = verb == "send"
        && name
            .first()
            .is_some_and(|word| listed("order issue ship reissue replace", word));
    // *The meeting was cancelled* by `delete_event`.
    let unscheduled = verb == "cancel"
        && name.iter().any(|word| takes_away(word))
        && topics.iter().any(|topic| {
            listed(
                "event meeting appointment calendar booking reservation subscription reminder job",
                topic,
            )
        });
    ships || unscheduled || name.iter().any(|word| is_synonym(verb, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_only_look_change_nothing() {
        assert!(changes("rm -rf tmp") && changes("sed -i s/a/b/ x"));
        assert!(!changes("ls -la src") && !changes("cat readme.md"));
    }

    #[test]
    fn what_takes_away_does_not_add() {
        assert!(
            opposes("add", "cancel") && opposes("remove", "create") && !opposes("remove", "cancel")
        );
    }
}
