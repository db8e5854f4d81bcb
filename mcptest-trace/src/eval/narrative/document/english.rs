//! Whether a closing has a sentence in English, the one language that the reader knows.

use unicode_segmentation::UnicodeSegmentation;

use super::text::Document;
use crate::eval::narrative::words::lexicon::{Lexicon, lower};
use crate::eval::narrative::words::marks::{Mark, Marks, of};

/// Of so many words of a sentence in English, one at least is a word of its grammar or a verb in the past.
const OF: usize = 5;

/// Whether a message has a sentence in English. The narrative gate reads no other language, so it judges a closing
/// without one on nothing.
///
/// ```
/// use mcptest_trace::eval::has_english;
///
/// assert!(has_english("Order 7 refunded."));
/// assert!(!has_english("Ich habe die Bestellung 7 storniert."));
/// assert!(!has_english("✅ 👍"));
/// ```
#[must_use]
pub fn has_english(message: &str) -> bool {
    let document = Document::read(message);
    let mut blocks = document.blocks.iter();
    blocks.any(|block| {
        let text = &document.text[block.range.clone()];
        text.unicode_sentences().any(is_english)
    })
}

fn is_english(sentence: &str) -> bool {
    let lexicon = Lexicon::get();
    let words = sentence.split(|c: char| !c.is_alphabetic());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).map(lower).collect();
    let english = words.iter().filter(|word| {
        let known = lexicon.word(word).copied().unwrap_or_default();
        let past = known.marks.meets(of![Past Participle]) && word.len() > 3;
        let grammar = known
            .marks
            .meets(of![Grammatical OfVerbGroup Modal DoneWord]);
        (past || grammar && !known.marks.has(Mark::Thing)) && !lexicon.lists("elsewhere", word)
    });
    english.count() * OF >= words.len().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_in_english_are_told_from_others() {
        for english in [
            "Done.",
            "Cancelled order W12.",
            "I have refunded 18.00 EUR for order 7.",
            "Refund issued ✅",
            "Ich habe sie storniert.\n\nThe order is cancelled.",
            "- Order 7: refunded\n- Order 8: not refunded",
        ] {
            assert!(has_english(english), "{english}");
        }
        for other in [
            "",
            "✅ 👍",
            "42",
            "Ich habe die Bestellung 7 storniert und 20 Euro erstattet. Er war in der Liste.",
            "J'ai annulé la commande 7. Le message a été envoyé à Dana.",
            "He cancelado el pedido 7 y no he enviado el mensaje a Dana.",
            "Ik heb bestelling 7 geannuleerd en het bedrag is terugbetaald.",
            "Cancelei o pedido 7 e enviei a mensagem para a equipe.",
            "Ho annullato l'ordine 7 e ho inviato un messaggio al team.",
            "注文7をキャンセルしました。返金も完了しました。",
            "Я отменил заказ 7.",
            "订单 7 已取消。",
        ] {
            assert!(!has_english(other), "{other}");
        }
    }
}
