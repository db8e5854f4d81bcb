//! Filters that no case fits, where that is an error: a case that was renamed would never run again, and all would be
//! green.

use mcptest_suite::{nearest, quoted_list};

use super::arguments::TestArguments;

/// The exit status where a filter leaves no case, as nextest has it.
pub(super) const NO_CASE: u8 = 4;

/// How many names are shown where none is near.
const SHOWN: usize = 8;

/// What is said where the filters leave no case. `names`: those of all cases.
pub(super) fn no_case_text(asked: &TestArguments, names: &[&str]) -> String {
    let skipped = &asked.arguments.skip;
    let Some(filter) = asked.filters.first() else {
        return format!("no case is left: `--skip` leaves out {}", quoted(skipped));
    };
    let filters = quoted(&asked.filters);
    if names.is_empty() {
        return format!("no case fits {filters}: there is no case");
    }
    let of_filters = TestArguments {
        arguments: libtest_mimic::Arguments {
            skip: Vec::new(),
            ..asked.arguments.clone()
        },
        ..asked.clone()
    };
    if names.iter().any(|name| of_filters.fits(name)) {
        return format!(
            "no case is left: `--skip` leaves out all that fit {filters}: {}",
            quoted(skipped)
        );
    }
    let whole = if asked.arguments.exact {
        "is named exactly"
    } else {
        "fits"
    };
    // The whole name is meant where the filter has several parts, or must be one.
    let parts = names.iter().flat_map(|name| name.split("::"));
    let parts = parts.filter(|_| !asked.arguments.exact);
    let near = nearest(filter, names.iter().copied().chain(parts));
    let help = if let Some(near) = near {
        format!("did you mean `{near}`?")
    } else {
        let more = match names.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let first = names.iter().copied().take(SHOWN);
        format!("the cases are {}{more}", quoted_list(first))
    };
    format!("no case {whole} {filters}\n\nhelp: {help}")
}

fn quoted(words: &[String]) -> String {
    quoted_list(words.iter().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 3] = [
        "refunds::refund_agent",
        "refunds::refund_agent::trajectory",
        "shop::cart",
    ];

    fn text(arguments: &[&str]) -> String {
        let asked = arguments.iter().map(ToString::to_string);
        no_case_text(&TestArguments::read(asked, None).unwrap(), &NAMES)
    }

    #[test]
    fn a_near_name_is_offered() {
        assert_eq!(
            text(&["trajectry"]),
            "no case fits `trajectry`\n\nhelp: did you mean `trajectory`?"
        );
        assert_eq!(
            text(&["--exact", "refunds::refund_agnt"]),
            "no case is named exactly `refunds::refund_agnt`\n\nhelp: did you mean `refunds::refund_agent`?"
        );
        assert_eq!(
            text(&["zzzzzz", "qqqqqq"]),
            "no case fits `zzzzzz`, `qqqqqq`\n\nhelp: the cases are `refunds::refund_agent`, \
             `refunds::refund_agent::trajectory`, `shop::cart`"
        );
    }

    #[test]
    fn what_skip_leaves_out_is_said() {
        assert_eq!(
            text(&["--skip", "refunds", "--skip", "shop"]),
            "no case is left: `--skip` leaves out `refunds`, `shop`"
        );
        assert_eq!(
            text(&["cart", "--skip", "shop"]),
            "no case is left: `--skip` leaves out all that fit `cart`: `shop`"
        );
    }
}
