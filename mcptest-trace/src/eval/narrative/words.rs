//! The closed word classes of English, and plural folding.
//!
//! Only words that belong to the language stand here, none that belong to a domain. A class is a
//! line of words between spaces.

use std::collections::HashSet;
use std::sync::LazyLock;

static MODAL: Class = LazyLock::new(|| {
    class("will 'll would 'd can could shall should may might must wo ca ought cannot")
});

static BE: Class = LazyLock::new(|| class("is are was were am 're 'm been be being got gets get"));

static NEGATION: Class =
    LazyLock::new(|| class("not n't never no neither nor nothing none nobody hardly without zero"));

static EARLIER_OR_HABITUAL: Class = LazyLock::new(|| {
    class(
        "already previously originally initially earlier formerly recently ever yet still always \
    often usually typically normally generally commonly once first last only rarely almost \
    nearly supposedly apparently reportedly",
    )
});

static DETERMINER: Class = LazyLock::new(|| {
    class(
        "a an the this that these those my your our his her its their some any all both each \
    every either another other such no several many few more most much various multiple one \
    two three four five six seven eight nine ten single first second third last next new old \
    same additional extra further remaining entire whole existing relevant necessary \
    appropriate corresponding above half couple total only own requested following rest of",
    )
});

const DEFINITE: &str = "the this that these those my your our his her its their";

static PRONOUN: Class = LazyLock::new(|| {
    class(
        "i we you he she it they me us him them who whom what which this that these those \
    everything something anything everyone someone anyone there here myself yourself itself \
    themselves one ones mine yours",
    )
});

static PREPOSITION: Class = LazyLock::new(|| {
    class(
        "to from in on at for with by of into onto under over about as per via through during \
    within without between among after before since until against using including regarding \
    concerning due because out off up down across along around behind beside towards toward \
    upon back than like based accordingly below alongside inside outside except plus minus \
    instead away together",
    )
});

static MONTH_OR_DAY: Class = LazyLock::new(|| {
    class(
        "january february march april may. june july august september october november december \
    jan feb mar apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday \
    friday saturday sunday",
    )
});

static ADVERB: Class = LazyLock::new(|| {
    class(
        "now just also already both all then since ever yet still always often once even indeed thus \
    therefore each too well next first second third last lastly additionally only so far hereby either again further \
    earlier soon perfect great done ok okay yes sure alright today instead meanwhile afterwards",
    )
});

const NO_ADVERB: &str = "reply apply supply family assembly anomaly multiply july";

const REPORTING_STEMS: &str = "see understand appear seem believe assume expect hope notice mention say report claim \
    indicate show ensure verify check state suggest reveal request ask wish want wonder guess suspect require imply \
    pretend recommend regret";

const REPORTING_FORMS: &str = "saw seen said says told tell according sure found think thought understood sorry apologize \
    apologise implies implied supposed looks look";

static PROPOSING: Class = LazyLock::new(|| {
    class(
        "need needs propose proposed plan planned option options unable failed like want next proceed \
    going once suggest suggested recommend recommended requested pending to-do todo steps attempted example examples",
    )
});

static RECOUNTING: Class = LazyLock::new(|| {
    class(
        "recent latest history log logs changelog previous previously past timeline existing last lists \
    listed contains includes commits activity current currently original",
    )
});

/// A class of words, ready to be looked up.
pub(super) type Class = LazyLock<HashSet<&'static str>>;

/// The class of the words in a line.
pub(super) fn class(words: &'static str) -> HashSet<&'static str> {
    words.split_ascii_whitespace().collect()
}

/// Whether a word stands in a line of words between spaces.
pub(super) fn listed(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|listed| listed == word)
}

/// The speaker of the closing.
pub(super) fn is_first_person(word: &str) -> bool {
    matches!(word, "i" | "we")
}

pub(super) fn is_modal(word: &str) -> bool {
    MODAL.contains(word)
}

pub(super) fn is_be(word: &str) -> bool {
    BE.contains(word)
}

pub(super) fn is_have(word: &str) -> bool {
    matches!(word, "have" | "has" | "had" | "'ve" | "having")
}

pub(super) fn is_do(word: &str) -> bool {
    matches!(word, "do" | "does" | "did")
}

pub(super) fn is_negation(word: &str) -> bool {
    NEGATION.contains(word)
}

/// A word that makes a finite clause whatever the verb.
pub(super) fn is_finite_auxiliary(word: &str) -> bool {
    is_modal(word)
        || is_do(word)
        || (is_have(word) && word != "having")
        || matches!(
            word,
            "is" | "are" | "was" | "were" | "am" | "'re" | "'m" | "'s"
        )
}

/// Adverbs that stand between an auxiliary and its verb, or open a sentence.
pub(super) fn is_adverb(word: &str) -> bool {
    ADVERB.contains(word) || (word.len() > 4 && word.ends_with("ly") && !listed(NO_ADVERB, word))
}

/// Adverbs that put a passive before the run or make it a habit.
pub(super) fn is_earlier_or_habitual(word: &str) -> bool {
    EARLIER_OR_HABITUAL.contains(word)
}

/// Words that can stand before a noun without naming anything.
pub(super) fn is_determiner(word: &str) -> bool {
    DETERMINER.contains(word)
}

/// A determiner that points at a thing already known.
pub(super) fn is_definite(word: &str) -> bool {
    listed(DEFINITE, word)
}

pub(super) fn is_pronoun(word: &str) -> bool {
    PRONOUN.contains(word)
}

pub(super) fn is_preposition(word: &str) -> bool {
    PREPOSITION.contains(word)
}

pub(super) fn is_conjunction(word: &str) -> bool {
    static CONJUNCTION: Class = LazyLock::new(|| class("and but or nor then yet plus so"));
    CONJUNCTION.contains(word)
}

/// Words that open a clause whose content is not asserted.
pub(super) fn is_hypothetical(word: &str) -> bool {
    static HYPOTHETICAL: Class = LazyLock::new(|| {
        class("if unless whether until lest provided assuming suppose supposing should")
    });
    HYPOTHETICAL.contains(word)
}

/// Words that open a clause of time, which may or may not have come to pass.
pub(super) fn is_temporal(word: &str) -> bool {
    static TEMPORAL: Class =
        LazyLock::new(|| class("when once after before whenever till while upon"));
    TEMPORAL.contains(word)
}

/// Words that open a clause of reason or contrast: what stands there is taken as known.
pub(super) fn is_causal(word: &str) -> bool {
    static CAUSAL: Class =
        LazyLock::new(|| class("since because as although though given whereas where"));
    CAUSAL.contains(word)
}

/// Words that open a clause which is not simply asserted, or that report one.
pub(super) fn governs(word: &str) -> bool {
    is_hypothetical(word)
        || word == "case"
        || is_temporal(word)
        || is_causal(word)
        || is_reporting(word)
        || word.starts_with("confirm")
}

/// Verbs that report what someone else said, wrote or recorded, or what is merely thought or
/// wished, in the forms they take in closings.
pub(super) fn is_reporting(word: &str) -> bool {
    // As participles these describe nouns: *a checked bag*.
    if matches!(word, "checked" | "required" | "verified") {
        return false;
    }
    REPORTING.contains(word)
}

/// Every form of the verbs of reporting.
static REPORTING: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let stems = REPORTING_STEMS.split_ascii_whitespace();
    let inflected = stems.flat_map(|stem| {
        let cut = stem
            .strip_suffix('e')
            .map(|front| (front, ["ed", "ing", "es"]));
        let whole = ["", "s", "ed", "ing"].map(|end| format!("{stem}{end}"));
        let cut = cut
            .into_iter()
            .flat_map(|(front, ends)| ends.map(|end| format!("{front}{end}")));
        whole.into_iter().chain(cut)
    });
    let forms = REPORTING_FORMS.split_ascii_whitespace().map(str::to_owned);
    inflected.chain(forms).collect()
});

/// Words that make a plan, a choice or a proposal out of the list they introduce.
pub(super) fn proposes(word: &str) -> bool {
    denies_or_supposes(word) || PROPOSING.contains(word)
}

/// Words that take back whatever is said with them.
pub(super) fn denies_or_supposes(word: &str) -> bool {
    is_modal(word) || is_negation(word) || is_hypothetical(word)
}

/// Words by which a heading or introduction says that what follows was found, not done.
pub(super) fn recounts(word: &str) -> bool {
    is_reporting(word) || RECOUNTING.contains(word)
}

/// Words for a record of what happened, whoever did it.
pub(super) fn is_record(word: &str) -> bool {
    listed(
        "log logs history timeline activity commits changelog unread inbox transcript",
        word,
    )
}

/// Abbreviations with a full stop inside a noun phrase: *Dr. Lee*, *No. 5*.
pub(super) fn is_title(word: &str) -> bool {
    listed("dr mr mrs ms prof st no nr jr sr inc ltd co", word)
}

pub(super) fn is_month_or_day(word: &str) -> bool {
    MONTH_OR_DAY.contains(word)
}

/// The word without a plural ending. Words that end in *-ss*, *-us* or *-is* stay.
pub(super) fn singular(word: &str) -> String {
    let cut = |count: usize| word[..word.len() - count].to_owned();
    match word {
        "people" => "person".to_owned(),
        "addresses" => "address".to_owned(),
        _ if !word.is_ascii() || word.len() < 4 => word.to_owned(),
        _ if word.ends_with("ies") && word.len() > 4 => format!("{}y", cut(3)),
        _ if ["ches", "shes", "sses", "xes", "zzes"]
            .iter()
            .any(|end| word.ends_with(end)) =>
        {
            cut(2)
        }
        _ if word.ends_with('s') && !["ss", "us", "is"].iter().any(|end| word.ends_with(end)) => {
            cut(1)
        }
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_fold_plainly() {
        let cases = [
            ("entries", "entry"),
            ("branches", "branch"),
            ("bags", "bag"),
            ("status", "status"),
            ("address", "address"),
            ("boxes", "box"),
        ];
        for (plural, expected) in cases {
            assert_eq!(singular(plural), expected);
        }
    }

    #[test]
    fn reporting_verbs_are_known_in_their_forms() {
        for word in [
            "seems",
            "noticed",
            "shows",
            "indicating",
            "believe",
            "ensure",
            "mentioned",
        ] {
            assert!(is_reporting(word), "{word}");
        }
        assert!(!is_reporting("confirm"));
    }
}
