//! Reading what models cost: `prices:` at the top of a suite and below `budget:`.

use super::fields::Fields;
use super::named::{entry_name, named_entries};
use super::problems::Problems;
use crate::model::{ModelPrice, Prices};
use crate::{Diagnostic, Node, Spanned};

/// The most dollars of a million tokens.
const DEAREST: f64 = 1e6;

/// A price with the place of the model's name.
pub(super) type Priced = (Spanned<String>, ModelPrice);

pub(super) fn read(node: &Node, problems: &mut Problems) -> Vec<Priced> {
    let entries = named_entries(node, "prices", problems);
    let read = entries.iter().filter_map(|entry| {
        let mut fields = Fields::open(&entry.value, "a price", problems)?;
        let [prompt, completion] = ["prompt", "completion"].map(|key| {
            let node = fields.required(key, problems);
            node.and_then(|node| problems.number(node, 0.0, DEAREST))
        });
        let cached = fields
            .get("cached")
            .map(|node| problems.number(node, 0.0, DEAREST));
        fields.finish(problems);
        let price = ModelPrice::new(prompt?, completion?);
        let price = match cached {
            Some(cached) => price.with_cached(cached?),
            None => price,
        };
        Some((entry_name(entry), price))
    });
    read.collect()
}

/// The prices of both places. A model that stands in both costs the same in both.
pub(super) fn merge(top: Vec<Priced>, budget: Vec<Priced>, problems: &mut Problems) -> Prices {
    for (model, price) in &budget {
        let same = |(other, _): &&Priced| other.value == model.value;
        let Some((other, stated)) = top.iter().find(same) else {
            continue;
        };
        if stated != price {
            let message = format!("`{}` has two prices", model.value);
            problems.push(
                Diagnostic::new(message)
                    .label(model.span, "another one here")
                    .secondary_label(other.span, "one here")
                    .help(
                        "keep the one in `prices:` at the top: recording and judging both read it",
                    ),
            );
        }
    }
    let all = budget.into_iter().chain(top);
    all.map(|(model, price)| (model.value, price)).collect()
}
