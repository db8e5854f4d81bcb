//! A part of all agents, for one of several machines.

use std::fmt;
use std::str::FromStr;

/// A part of all agents: the `number`th of `total`, counted from 1.
///
/// An agent is in a part by the name of its own case and by nothing else. So agents that are added or removed move no
/// other agent, and all cases and runs of an agent are in one part.
///
/// ```
/// use mcptest_suite::Shard;
///
/// let parts = [1, 2, 3].map(|number| format!("{number}/3").parse::<Shard>().unwrap());
/// let held = parts.iter().filter(|part| part.holds("refunds::refund_agent"));
/// assert_eq!(held.count(), 1);
/// assert!("0/3".parse::<Shard>().unwrap_err().to_string().contains("`1/3`"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    number: usize,
    total: usize,
}

impl Shard {
    /// Which part it is, from 1.
    #[must_use]
    pub const fn number(self) -> usize {
        self.number
    }

    /// How many parts there are.
    #[must_use]
    pub const fn total(self) -> usize {
        self.total
    }

    /// Whether an agent is in it, by the full name of its own case; or a case that is about no agent, by its name.
    #[must_use]
    pub fn holds(self, name: &str) -> bool {
        // FNV-1a, of 64 bits.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        // The digits of names that follow each other are mixed into all bits.
        let mixed = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        let place = (mixed ^ (mixed >> 33)) % self.total as u64;
        place == self.number as u64 - 1
    }
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let parts = text.split_once('/');
        let parts =
            parts.and_then(|(number, total)| Some((parse_digits(number)?, parse_digits(total)?)));
        match parts {
            Some((number, total)) if (1..=total).contains(&number) => Ok(Self { number, total }),
            Some((0, total @ 1..)) => Err(ShardError::Zero { total }),
            _ => Err(ShardError::Malformed),
        }
    }
}

/// Why a text is no [`Shard`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShardError {
    /// The first shard has the number 1.
    Zero {
        /// How many shards there are.
        total: usize,
    },
    /// It is not two numbers with a slash between them, or the first is larger than the second.
    Malformed,
}

impl fmt::Display for ShardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero { total } => write!(
                f,
                "shards are counted from 1, as nextest counts them: the first is `1/{total}`, the last is `{total}/{total}`"
            ),
            Self::Malformed => {
                f.write_str("write which shard it is and how many there are, from `1/4` to `4/4`")
            }
        }
    }
}

impl std::error::Error for ShardError {}

/// A number of digits alone.
fn parse_digits(text: &str) -> Option<usize> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(total: usize) -> Vec<Shard> {
        (1..=total)
            .map(|number| format!("{number}/{total}").parse().unwrap())
            .collect()
    }

    #[test]
    fn every_name_is_in_one_part_and_the_parts_are_of_one_size() {
        let names: Vec<String> = (0..10_000)
            .map(|number| format!("suite_{}::agent_{number}", number / 100))
            .collect();
        for total in [1, 2, 3, 4, 7, 8, 16, 50] {
            let parts = parts(total);
            let mut sizes = vec![0_usize; total];
            for name in &names {
                let held: Vec<usize> = (0..total).filter(|part| parts[*part].holds(name)).collect();
                let [part] = held[..] else {
                    panic!("{name} is in {held:?} of {total}");
                };
                sizes[part] += 1;
            }
            let even: usize = 10_000 / total;
            // Five times what chance does to so many.
            let most = 5 * even.isqrt();
            assert!(
                sizes.iter().all(|size| size.abs_diff(even) <= most),
                "{sizes:?}"
            );
        }
    }

    /// Machines of today and of tomorrow must agree.
    #[test]
    fn a_name_stays_where_it_is() {
        let place = |name: &str| parts(4).iter().position(|part| part.holds(name)).unwrap() + 1;
        let names = [
            "refunds::refund_agent",
            "shop::cart::gpt_5",
            "a::regression",
            "ü",
        ];
        assert_eq!(names.map(place), [4, 4, 3, 1]);
    }

    #[test]
    fn what_is_no_part_is_refused_with_the_form() {
        let from_one = "shards are counted from 1, as nextest counts them: the first is `1/4`, the last is `4/4`";
        assert_eq!("0/4".parse::<Shard>().unwrap_err().to_string(), from_one);
        for wrong in [
            "5/4", "0/0", "1/0", "1", "", "/", "1/", "+1/4", "1/4/4", " 1/4", "a/b", "-1/4",
        ] {
            let refused = wrong.parse::<Shard>().unwrap_err().to_string();
            assert!(
                refused.contains("from `1/4` to `4/4`"),
                "{wrong}: {refused}"
            );
        }
        assert_eq!("4/4".parse::<Shard>().unwrap().to_string(), "4/4");
    }
}
