//! What a page shows of a program, against what the program prints.

/// Whether a text is as shown. A line `…` stands for any lines, and one that ends in ` …` for any line that begins so.
pub fn matches_transcript(shown: &str, printed: &str) -> bool {
    let shown: Vec<&str> = shown.lines().collect();
    let printed: Vec<&str> = printed.lines().collect();
    fits(&shown, &printed)
}

fn fits(shown: &[&str], printed: &[&str]) -> bool {
    match (shown, printed) {
        ([], rest) => rest.iter().all(|line| line.is_empty()),
        (["…", shown @ ..], printed) => {
            (0..=printed.len()).any(|skipped| fits(shown, &printed[skipped..]))
        }
        ([first, shown @ ..], [line, printed @ ..]) => {
            let same = match first.strip_suffix(" …") {
                Some(beginning) => line.starts_with(beginning),
                None => first == line,
            };
            same && fits(shown, printed)
        }
        (_, []) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_stand_for_what_is_left_out_and_nothing_else() {
        let printed = "one\ntwo 2\nthree\n\n";
        for shown in ["…\n", "one\n…\nthree\n", "one\ntwo …\nthree\n"] {
            assert!(matches_transcript(shown, printed), "{shown}");
        }
        for shown in ["", "one\n", "one\nthree\n", "…\ntwo\nthree\n", "…\nfour\n"] {
            assert!(!matches_transcript(shown, printed), "{shown}");
        }
    }
}
