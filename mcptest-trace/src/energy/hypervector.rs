//! Bipolar hypervectors packed one bit a component (§3.1; Kanerva 2009): binding is xor, comparing
//! is a population count, bundling a majority vote.
//!
//! Vectors are pinned: the same seed or text gives the same bits on every platform and in every
//! release. Stored vectors stay comparable.

use std::fmt;

use super::splitmix::{nth, scramble};
use super::votes::{Ballots, LANES, Lane, majority};

/// Number of components of a hypervector (§3.1).
pub const DIMENSIONS: usize = COMPONENTS as usize;

const COMPONENTS: u32 = 10_000;
const WORDS: usize = DIMENSIONS.div_ceil(64);
/// The components the last word really has; its other bits are always zero.
const LAST_WORD: u64 = (1 << (COMPONENTS % 64)) - 1;

/// A vector of [`DIMENSIONS`] components, each +1 (bit 0) or −1 (bit 1); 1,256 bytes.
///
/// ```
/// use mcptest_trace::energy::Hypervector;
///
/// let policy = Hypervector::encode("Refunds go to the card that paid.");
/// let close = Hypervector::encode("The refund goes to the card that paid.");
/// let far = Hypervector::encode("Zwei Fahrscheine nach Zürich");
/// assert!(policy.cosine(&close) > 0.5);
/// assert!(policy.cosine(&far) < 0.1);
///
/// let key = Hypervector::item(7);
/// assert_eq!(key.bind(&policy).bind(&key), policy); // binding undoes itself
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Hypervector {
    words: [u64; WORDS],
}

impl Hypervector {
    /// The fixed random vector of a seed. Two of them are as good as orthogonal: cosine 0 ± 0.01.
    #[must_use]
    pub fn item(seed: u64) -> Self {
        Self::masked(std::array::from_fn(|index| nth(seed, index as u64)))
    }

    /// The fixed random vector of a name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let bytes = name.bytes().map(u64::from);
        Self::item(bytes.fold(NAMES, |hash, byte| scramble(hash ^ byte)))
    }

    /// The vector of a text: the majority of the fixed vectors of its character 3-grams, each of
    /// which binds the fixed vectors of its three characters, rotated by their place.
    ///
    /// ASCII letters count as lower case and a run of ASCII white space as one space; a text of
    /// fewer than three characters is filled up with spaces. Any text has a vector, an empty one
    /// too. Takes about 0.1 µs for each different 3-gram.
    #[must_use]
    pub fn encode(text: &str) -> Self {
        let symbols = symbols(text);
        let tie_break = symbols
            .iter()
            .fold(TIES, |hash, symbol| scramble(hash ^ u64::from(*symbol)));
        // A character has 21 bits.
        let gram = |gram: &[char]| gram.iter().fold(0, |key, c| key << 21 | u64::from(*c));
        let mut keys: Vec<u64> = symbols.windows(3).map(gram).collect();
        keys.sort_unstable();
        let counted: Vec<(u64, usize)> = keys
            .chunk_by(|key, next| key == next)
            .map(|same| (same[0], same.len()))
            .collect();

        let characters = |key: u64| [42, 21, 0].map(|by| key >> by & 0x1f_ffff);
        let mut alphabet: Vec<u64> = counted
            .iter()
            .flat_map(|(key, _)| characters(*key))
            .collect();
        alphabet.sort_unstable();
        alphabet.dedup();
        // Each letter has three vectors, one for each place in a 3-gram.
        let places = |key| {
            let letters = characters(key).map(|c| alphabet.partition_point(|letter| *letter < c));
            [letters[0] * 3, letters[1] * 3 + 1, letters[2] * 3 + 2]
        };
        let grams: Vec<([usize; 3], usize)> = counted
            .iter()
            .map(|(key, count)| (places(*key), *count))
            .collect();
        let ballots = Ballots::from_counts(&grams);

        // Four words of every vector at a time, so that the letters' part stays in the L1 cache.
        let mut letters = vec![[0; LANES]; 3 * alphabet.len()];
        Self::by_lane(|word| {
            for (letter, symbol) in letters.chunks_exact_mut(3).zip(&alphabet) {
                let last = item_lane(LETTERS.wrapping_add(*symbol), word);
                for (place, by) in letter.iter_mut().zip([42, 21, 0]) {
                    *place = last.map(|word| word.rotate_left(by));
                }
            }
            majority(&ballots, item_lane(tie_break, word), |gram| {
                let [first, second, third] = gram.map(|place| letters[place]);
                std::array::from_fn(|lane| first[lane] ^ second[lane] ^ third[lane])
            })
        })
    }

    /// Component-wise product: resembles neither factor. Binding with the same vector again
    /// undoes it.
    #[must_use]
    pub fn bind(&self, other: &Self) -> Self {
        Self {
            words: std::array::from_fn(|index| self.words[index] ^ other.words[index]),
        }
    }

    /// Component-wise majority: resembles each of `vectors`, in whatever order they come. Ties of
    /// an even number are broken by a fixed vector that depends on all of them.
    ///
    /// ```
    /// use mcptest_trace::energy::Hypervector;
    ///
    /// let parts = [1, 2, 3].map(Hypervector::item);
    /// let bundle = Hypervector::bundle(&parts);
    /// assert!(parts.iter().all(|part| bundle.cosine(part) > 0.45));
    /// ```
    #[must_use]
    pub fn bundle<'a>(vectors: impl IntoIterator<Item = &'a Self>) -> Self {
        let vectors: Vec<&Self> = vectors.into_iter().collect();
        let sum = vectors
            .iter()
            .fold(TIES, |sum, vector| sum.wrapping_add(vector.words[0]));
        let tie_break = scramble(sum);
        let ballots = Ballots::from_counts(
            &vectors
                .iter()
                .map(|vector| (*vector, 1))
                .collect::<Vec<_>>(),
        );
        Self::by_lane(|word| {
            majority(&ballots, item_lane(tie_break, word), |vector| {
                let words = &vector.words[word..];
                let shorter = || std::array::from_fn(|lane| words.get(lane).copied().unwrap_or(0));
                words.first_chunk().copied().unwrap_or_else(shorter)
            })
        })
    }

    /// Cosine of the angle between two vectors, −1 to 1: 1 − 2 · (differing components) / D.
    #[must_use]
    pub fn cosine(&self, other: &Self) -> f64 {
        let pairs = self.words.iter().zip(&other.words);
        let differing: u32 = pairs.map(|(left, right)| (left ^ right).count_ones()).sum();
        1.0 - f64::from(2 * differing) / f64::from(COMPONENTS)
    }

    /// A fingerprint of all components, to pin or log a vector.
    #[must_use]
    pub fn digest(&self) -> u64 {
        let words = self.words.iter();
        words.fold(0, |digest, word| scramble(digest ^ word))
    }

    fn by_lane(mut lane: impl FnMut(usize) -> Lane) -> Self {
        let mut words = [0; WORDS];
        for (index, words) in words.chunks_mut(LANES).enumerate() {
            let lane = lane(index * LANES);
            words.copy_from_slice(&lane[..words.len()]);
        }
        Self::masked(words)
    }

    fn masked(mut words: [u64; WORDS]) -> Self {
        words[WORDS - 1] &= LAST_WORD;
        Self { words }
    }
}

impl fmt::Debug for Hypervector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hypervector({:016x})", self.digest())
    }
}

/// Where the seeds of characters, names and tie-breakers start: three unrelated numbers.
const LETTERS: u64 = 0x6c65_7474_6572_7321;
const NAMES: u64 = 0x6e61_6d65_735f_5f21;
const TIES: u64 = 0x7469_6573_5f5f_5f21;

fn item_lane(seed: u64, word: usize) -> Lane {
    std::array::from_fn(|lane| nth(seed, (word + lane) as u64))
}

/// The characters that count, three at least.
fn symbols(text: &str) -> Vec<char> {
    let mut symbols = Vec::with_capacity(text.len().max(3));
    for word in text.split_ascii_whitespace() {
        if !symbols.is_empty() {
            symbols.push(' ');
        }
        symbols.extend(word.chars().map(|char| char.to_ascii_lowercase()));
    }
    symbols.resize(symbols.len().max(3), ' ');
    symbols
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn vectors_are_pinned() {
        let texts = [
            "",
            "a",
            "ab",
            "abc",
            "Refund the customer.",
            "Zürich → 東京 ✈",
        ];
        let pinned: Vec<String> = texts
            .iter()
            .map(|text| format!("{:016x}", Hypervector::encode(text).digest()))
            .collect();
        assert_eq!(
            pinned,
            [
                "4ead051fd5d4042e",
                "e3cd56aedd0207ac",
                "b737e3fece88c645",
                "e24075f8c61f5b79",
                "bf235aee7c412881",
                "1dce73e608a4179a"
            ]
        );
        assert_eq!(
            format!("{:?}", Hypervector::item(0)),
            "Hypervector(6b69e70bbd9761dc)"
        );
        assert_eq!(
            format!("{:?}", Hypervector::named("refunds")),
            "Hypervector(898e80f49b0466be)"
        );
        let pair = [1, 2].map(Hypervector::item);
        assert_eq!(
            format!("{:?}", Hypervector::bundle(&pair)),
            "Hypervector(082399e6e76da38f)"
        );
    }

    #[test]
    fn a_text_of_one_gram_is_the_gram() {
        let [a, b, c] = ['a', 'b', 'c'].map(|char| LETTERS + u64::from(char));
        let gram = Hypervector::masked(std::array::from_fn(|index| {
            nth(a, index as u64).rotate_left(42)
                ^ nth(b, index as u64).rotate_left(21)
                ^ nth(c, index as u64)
        }));
        assert_eq!(Hypervector::encode("abc"), gram);
        assert_eq!(Hypervector::encode("  ABC\n"), gram);
        assert_ne!(Hypervector::encode("cba"), gram);
    }

    #[test]
    fn different_grams_are_nearly_orthogonal_and_evenly_split() {
        let grams = [
            "aaa", "aab", "aba", "baa", "abc", "acb", "bca", "zzz", "a b", "äöü",
        ];
        let vectors = grams.map(Hypervector::encode);
        for (index, left) in vectors.iter().enumerate() {
            let ones: u32 = left.words.iter().map(|word| word.count_ones()).sum();
            assert!((4_800..=5_200).contains(&ones), "{}: {ones}", grams[index]);
            for (other, right) in vectors.iter().enumerate().skip(index + 1) {
                let cosine = left.cosine(right);
                assert!(
                    cosine.abs() < 0.05,
                    "{} {}: {cosine}",
                    grams[index],
                    grams[other]
                );
            }
        }
    }

    #[test]
    fn unrelated_short_texts_of_an_even_number_of_grams_are_nearly_orthogonal() {
        let cosine = Hypervector::encode("wxyz").cosine(&Hypervector::encode("efgh"));
        assert!(cosine.abs() < 0.05, "{cosine}");
    }

    #[test]
    fn a_bundle_of_none_is_some_vector_and_of_one_is_that_one() {
        let item = Hypervector::item(9);
        assert_eq!(Hypervector::bundle([&item]), item);
        assert!(Hypervector::bundle([]).cosine(&item).abs() < 0.05);
    }

    fn vector() -> impl Strategy<Value = Hypervector> {
        any::<u64>().prop_map(Hypervector::item)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn binding_is_its_own_inverse_and_keeps_angles(a in vector(), b in vector(), key in vector()) {
            prop_assert_eq!(a.bind(&key).bind(&key), a.clone());
            prop_assert_eq!(a.bind(&b), b.bind(&a));
            prop_assert_eq!(a.bind(&key).cosine(&b.bind(&key)), a.cosine(&b));
        }

        #[test]
        fn cosine_is_symmetric_bounded_and_one_with_itself(a in ".{0,40}", b in ".{0,40}") {
            let (a, b) = (Hypervector::encode(&a), Hypervector::encode(&b));
            prop_assert_eq!(a.cosine(&b), b.cosine(&a));
            prop_assert!((-1.0..=1.0).contains(&a.cosine(&b)));
            prop_assert_eq!(a.cosine(&a), 1.0);
        }

        #[test]
        fn bundling_does_not_depend_on_order(seeds in prop::collection::vec(any::<u64>(), 0..9)) {
            let forth: Vec<_> = seeds.iter().copied().map(Hypervector::item).collect();
            prop_assert_eq!(Hypervector::bundle(&forth), Hypervector::bundle(forth.iter().rev()));
        }

        #[test]
        fn the_last_word_has_no_stray_bits(text in "\\PC{0,30}") {
            prop_assert_eq!(Hypervector::encode(&text).words[WORDS - 1] & !LAST_WORD, 0);
        }
    }
}
