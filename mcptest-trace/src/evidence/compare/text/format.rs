//! Numbers as they are shown.

/// So many points of 100.
pub(super) fn points(value: f64) -> String {
    let are_one = (value - 1.0).abs() < 1e-9;
    format!("{value} point{}", if are_one { "" } else { "s" })
}

/// A difference with its sign, to one decimal.
pub(super) fn signed(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    if rounded < 0.0 {
        format!("−{:.1}", -rounded)
    } else {
        format!("+{:.1}", rounded.abs())
    }
}

pub(super) fn format_p_value(p: f64) -> String {
    if p < 1e-4 {
        "< 0.0001".to_owned()
    } else if p < 0.1 {
        format!("{p:.4}")
    } else {
        format!("{p:.2}")
    }
}

pub(super) fn format_p_value_short(p: f64) -> String {
    if p < 1e-3 {
        "< 0.001".to_owned()
    } else {
        format!("{p:.3}")
    }
}

/// Three significant digits, without zeros at the end.
pub(super) fn significant(value: f64) -> String {
    if value <= 0.0 {
        return "0".to_owned();
    }
    let mut decimals: usize = 2;
    let mut scaled = value;
    while scaled < 0.999_5 && decimals < 20 {
        scaled *= 10.0;
        decimals += 1;
    }
    let text = format!("{value:.decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
