//! URLs and paths, and how they begin.

use crate::fnv::fnv1a64;

use super::atoms::is_dotted;
use super::{TextValue, ValueKind};

/// How many beginnings of an address are looked at.
const STEPS: usize = 32;

/// The longest end of an address that is looked at.
const LONGEST: usize = 512;

/// The parts of a text between signs, with their places.
fn split(text: &str, between: impl Fn(char) -> bool) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive(between).map(move |part| {
        let start = at;
        at += part.len();
        (start, part)
    })
}

/// URLs and paths, and how they begin.
pub(super) fn find(text: &str, found: &mut Vec<TextValue>) {
    let apart = |sign: char| sign.is_whitespace() || "\"'`<>|{}[]()".contains(sign);
    for (start, chunk) in split(text, apart) {
        let chunk = chunk.trim_end_matches(|sign| apart(sign) || ".,;:!?*".contains(sign));
        if let Some(scheme) = chunk.find("://") {
            let at = start + scheme + 3;
            push_address(&chunk[scheme + 3..], at, found);
            push_endings(&chunk[scheme + 3..], at, found);
            continue;
        }
        let joins = |sign: char| "=,;&?".contains(sign);
        for (inner, piece) in split(chunk, joins) {
            let piece = piece.trim_end_matches(|sign| joins(sign) || ".:!*".contains(sign));
            if is_path(piece) && !is_media_type(piece) {
                push_address(piece, start + inner, found);
                push_endings(piece, start + inner, found);
                push_relative_path(piece, start + inner, found);
            }
        }
    }
}

/// Whether a text is the name of a format, such as `text/html`, and no path.
pub(super) fn is_media_type(text: &str) -> bool {
    const TYPES: [&str; 9] = [
        "application",
        "audio",
        "font",
        "image",
        "message",
        "model",
        "multipart",
        "text",
        "video",
    ];
    let of = |of: &str| TYPES.iter().any(|known| known.eq_ignore_ascii_case(of));
    let is_part = |sign: char| sign.is_ascii_alphanumeric() || "+-.".contains(sign);
    text.split_once('/').is_some_and(|(kind, format)| {
        // `image/plan.png` is a file.
        let is_file = is_dotted(format) && !format.starts_with("vnd.");
        of(kind) && !format.is_empty() && format.chars().all(is_part) && !is_file
    })
}

/// Whether a text is a path: from a root, or of several steps or with the ending of a file.
fn is_path(text: &str) -> bool {
    let mut steps = text.split(['/', '\\']).filter(|step| !step.is_empty());
    let rooted = text.starts_with(['/', '\\', '~', '.']) || text.get(1..3) == Some(":\\");
    let (first, last) = (steps.next(), steps.next_back());
    match (first, last) {
        (Some(_), None) => rooted && text.len() > 2 && text.contains(['/', '\\']),
        (Some(first), Some(last)) => {
            rooted || is_dotted(first) || is_dotted(last) || steps.next().is_some()
        }
        _ => false,
    }
}

/// An address as a whole, and each beginning of it that ends where a step does. `www.` does not count.
fn push_address(text: &str, at: usize, found: &mut Vec<TextValue>) {
    let whole = text.trim_end_matches(['/', '\\']);
    if !whole.contains(char::is_alphanumeric) {
        return;
    }
    let folded = whole.to_lowercase().replace('\\', "/");
    let skipped = if folded.starts_with("www.") { 4 } else { 0 };
    let mut push = |key: u64, kind, end: usize| {
        let span = at..at + end;
        found.push(TextValue { key, kind, span });
    };
    push(
        fnv1a64(&folded.as_bytes()[skipped..]),
        ValueKind::Whole,
        whole.len(),
    );
    // Beginnings of one that is as long in lower case; others are told as wholes.
    if folded.len() == whole.len() {
        let steps = folded.match_indices(['/', '?', '&', '#', ';']);
        for (end, sign) in steps.filter(|(end, _)| *end > skipped + 1).take(STEPS) {
            // What is asked of an address is often filled in: the address stands before it by itself.
            let is_asked = matches!(sign, "?" | "#");
            let kind = if is_asked {
                ValueKind::Whole
            } else {
                ValueKind::Part
            };
            let bare = folded[skipped..end].trim_end_matches('/');
            if bare.is_empty() {
                continue;
            }
            push(fnv1a64(bare.as_bytes()), kind, skipped + bare.len());
        }
    }
}

/// A path from the folder of the user or from the one where a command runs: `~/.ssh/id_rsa`, `./config/secrets.yml`.
fn push_relative_path(text: &str, at: usize, found: &mut Vec<TextValue>) {
    let whole = text.trim_end_matches(['/', '\\']);
    let bare = whole.strip_prefix("~/").or(whole.strip_prefix("./"));
    if let Some(bare) = bare.filter(|bare| is_path(bare) && bare.contains('/')) {
        found.push(TextValue {
            key: fnv1a64(bare.to_lowercase().as_bytes()),
            kind: ValueKind::Whole,
            span: at + whole.len() - bare.len()..at + whole.len(),
        });
    }
}

/// What an address ends with, which may be another address or a path: `https://a.example/?u=b.example/c`,
/// `https://a.example/etc/passwd`.
fn push_endings(text: &str, at: usize, found: &mut Vec<TextValue>) {
    let whole = text.trim_end_matches(['/', '\\']);
    let folded = whole.to_lowercase();
    if folded.len() != whole.len() {
        return;
    }
    for (joint, sign) in folded.match_indices(['/', '=', '?']).take(STEPS) {
        let end = &folded[joint..];
        let bare = &end[1..];
        let inner = bare
            .split_once("://")
            .filter(|(scheme, _)| scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()))
            .map_or(bare, |(_, inner)| inner);
        let is_step = sign == "/" && inner == bare && !bare.starts_with('~');
        // A path may begin at its root there and at a folder here.
        let both = [is_step.then_some(end), Some(inner)];
        for kept in both.into_iter().flatten() {
            let skipped = if kept.starts_with("www.") { 4 } else { 0 };
            if kept.len() <= LONGEST && is_path(kept) && kept.trim_start_matches('/').contains('/')
            {
                found.push(TextValue {
                    key: fnv1a64(&kept.as_bytes()[skipped..]),
                    kind: ValueKind::Part,
                    span: at + folded.len() - kept.len()..at + folded.len(),
                });
            }
        }
    }
}
