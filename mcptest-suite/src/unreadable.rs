//! What to tell of a file that no tree could be read from.

use serde_saphyr::Error;
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::granit_parser::ErrorKind;
use serde_saphyr::localizer::ExternalMessageSource;

use crate::limits::{ALIAS_EVENTS, DEPTH, NODES};
use crate::{Diagnostic, Span};

/// What is wrong with a file, as far as one can help with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UnreadableCause {
    Aliases,
    Depth,
    Size,
    SecondDocument,
    Tab,
    /// Something between brackets.
    Flow,
    Anchor,
    Escape,
    Other,
}

/// The problem that the parser describes in `words`, at a byte offset into the text.
pub(crate) fn unreadable(text: &str, words: &str, error: &Error, offset: usize) -> Diagnostic {
    let span = Span::new(offset, offset);
    let problem = |span| {
        Diagnostic::at(span, format!("not readable as YAML: {words}"))
            .note("nothing after this place was looked at")
    };
    match cause(error) {
        UnreadableCause::Aliases => limit_exceeded(span, "its aliases repeat too much"),
        UnreadableCause::Depth => limit_exceeded(span, "it nests too deep"),
        UnreadableCause::Size => limit_exceeded(span, "it is too large"),
        UnreadableCause::SecondDocument => Diagnostic::at(
            span,
            "one file is one suite, and a second document begins here",
        )
        .help("move what follows `---` into a file of its own"),
        UnreadableCause::Tab => {
            // The parser names the place where the token before the tab begins.
            let tab = text[text.floor_char_boundary(offset)..].find('\t');
            let tab = tab.map_or(offset, |tab| offset + tab);
            problem(Span::new(tab, tab)).help("YAML indents with spaces; replace the tab")
        }
        UnreadableCause::Flow => problem(span).help("close each open bracket, brace or quote; inside `{ }` and `[ ]`, put text with one of `[ ] { } ,` in it in quotes"),
        UnreadableCause::Anchor => problem(span).help("write the anchor before its use, as `&name`, or put text that begins with `*` in quotes"),
        UnreadableCause::Escape => problem(span).help("write the backslash twice, or use single quotes"),
        UnreadableCause::Other => problem(span).help("check indentation, brackets and quotes here and just above; put text with `: ` or ` #` in it in quotes"),
    }
}

fn cause(error: &Error) -> UnreadableCause {
    match error {
        Error::AliasError { error, .. } | Error::WithSnippet { error, .. } => cause(error),
        Error::Budget { breach, .. } => match breach {
            BudgetBreach::Depth { .. } | BudgetBreach::InclusionDepth { .. } => {
                UnreadableCause::Depth
            }
            BudgetBreach::Aliases { .. } | BudgetBreach::Anchors { .. } => UnreadableCause::Aliases,
            BudgetBreach::Documents { .. } => UnreadableCause::SecondDocument,
            _ => UnreadableCause::Size,
        },
        Error::AliasReplayCounterOverflow { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => UnreadableCause::Aliases,
        Error::MultipleDocuments { .. } => UnreadableCause::SecondDocument,
        Error::UnknownAnchor { .. } => UnreadableCause::Anchor,
        Error::ExternalMessage { source, .. } => match &**source {
            ExternalMessageSource::Parser(error) => parser_error_cause(error.kind()),
            _ => UnreadableCause::Other,
        },
        _ => UnreadableCause::Other,
    }
}

fn parser_error_cause(kind: &ErrorKind) -> UnreadableCause {
    match kind {
        ErrorKind::RecursionLimitExceeded => UnreadableCause::Depth,
        ErrorKind::InputByteLimitExceeded { .. } => UnreadableCause::Size,
        ErrorKind::MultipleDocumentsUnsupported => UnreadableCause::SecondDocument,
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabAtBlockScalarStart
        | ErrorKind::TabInIndentation
        | ErrorKind::TabInPlainScalar => UnreadableCause::Tab,
        ErrorKind::UnexpectedEofFlowSequence
        | ErrorKind::UnexpectedEofFlowMapping
        | ErrorKind::UnexpectedEofImplicitFlowMapping
        | ErrorKind::ExpectedFlowMappingSeparator
        | ErrorKind::ExpectedFlowSequenceSeparator
        | ErrorKind::MisplacedFlowCollectionEnd
        | ErrorKind::MismatchedFlowCollectionEnd { .. }
        | ErrorKind::UnclosedFlowCollection { .. }
        | ErrorKind::BlockEntryInFlowCollection
        | ErrorKind::PlainScalarStartsWithDashFlowIndicator
        | ErrorKind::InvalidFlowScalarIndent
        | ErrorKind::FlowMappingValueAdjacentCollection => UnreadableCause::Flow,
        ErrorKind::UnknownAnchor
        | ErrorKind::AnchorCountOverflow
        | ErrorKind::MissingAnchorOrAliasName => UnreadableCause::Anchor,
        ErrorKind::UnknownQuotedScalarEscape
        | ErrorKind::InvalidQuotedScalarHexEscape
        | ErrorKind::InvalidLowSurrogateHexEscape
        | ErrorKind::InvalidLowSurrogate
        | ErrorKind::MissingLowSurrogate
        | ErrorKind::UnpairedLowSurrogate
        | ErrorKind::InvalidUnicodeEscape => UnreadableCause::Escape,
        _ => UnreadableCause::Other,
    }
}

/// The problem that a file goes beyond a limit.
fn limit_exceeded(span: Span, what: &str) -> Diagnostic {
    Diagnostic::at(span, format!("this file is refused: {what}"))
        .note(format!(
            "a suite may nest {DEPTH} deep, have {NODES} nodes, and repeat {ALIAS_EVENTS} parser events through aliases"
        ))
        .help("write the repeated parts out, or split the suite into several files")
}
