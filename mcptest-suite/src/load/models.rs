//! Reading an agent's `model:` or `models:`.

use super::fields::Fields;
use super::problems::Problems;
use crate::model::Model;
use crate::{Diagnostic, Node, Spanned};

pub(super) fn read(
    fields: &mut Fields<'_>,
    problems: &mut Problems,
) -> Option<Vec<Spanned<Model>>> {
    let Some(entry) = fields.either(["model", "models"], problems) else {
        let problem = Diagnostic::at(fields.span, "an agent needs `model` or `models`")
            .help("name the model that was recorded, e.g. `model: claude-sonnet-4-5`");
        fields.missing(&["model", "models"], problem, problems);
        return None;
    };
    let single = std::slice::from_ref(&entry.value);
    let items = match entry.value.items() {
        Some(_) if entry.key == "models" => problems.items(&entry.value, "models")?,
        Some(_) => {
            problems.push(
                Diagnostic::at(entry.key_span, "`model` is one model, found a list")
                    .help("write `models:` for several"),
            );
            return None;
        }
        None => single,
    };
    let models = items.iter().map(|item| model(item, problems));
    models.collect::<Vec<_>>().into_iter().collect()
}

fn model(node: &Node, problems: &mut Problems) -> Option<Spanned<Model>> {
    if node.entries().is_none() {
        let id = problems.non_blank_text(node)?;
        return Some(Spanned::new(
            Model {
                provider: None,
                id: id.value,
            },
            node.span,
        ));
    }
    let mut fields = Fields::open(node, "a model", problems)?;
    let provider = fields
        .required("provider", problems)
        .and_then(|node| problems.non_blank_text(node));
    let id = fields
        .required("id", problems)
        .and_then(|node| problems.non_blank_text(node));
    fields.finish(problems);
    let id = id?;
    Some(Spanned::new(
        Model {
            provider: Some(provider?.value),
            id: id.value,
        },
        id.span,
    ))
}
