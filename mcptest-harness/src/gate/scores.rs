//! What a gate computed: the values of its targets.

use serde_json::Value;

use super::expectation::short_number;
use crate::eval::Measure;
use crate::render::Table;

/// How many runs have a column of their own.
const COLUMNS: usize = 8;

/// The values of a gate's targets.
#[derive(Debug, Default)]
pub(crate) enum Scores {
    #[default]
    None,
    EachRun(Vec<Value>),
    Together(Value),
}

impl Scores {
    /// A row a target; nothing where nothing was computed.
    pub(crate) fn table(&self, targets: &[Measure]) -> Option<Table> {
        let runs = match self {
            Self::None => return None,
            Self::EachRun(runs) => runs.as_slice(),
            Self::Together(all) => std::slice::from_ref(all),
        };
        let each = matches!(self, Self::EachRun(_));
        let columns: Vec<String> = match runs.len() {
            _ if !each => vec!["value".to_owned()],
            few if few <= COLUMNS => (1..=few).map(|run| format!("run {run}")).collect(),
            _ => ["lowest", "median", "highest"].map(str::to_owned).into(),
        };
        let headings = ["target".to_owned()].into_iter();
        let headings = headings.chain(columns).chain(["what it is".to_owned()]);
        let mut table = Table::new(headings);
        for target in targets {
            let values: Vec<Option<&Value>> =
                runs.iter().map(|run| value(run, target.name)).collect();
            let cells = if each && runs.len() > COLUMNS {
                spread(&values)
            } else {
                values.iter().map(|value| shown(*value)).collect()
            };
            let name = [target.name.to_owned()].into_iter();
            table.row(name.chain(cells).chain([target.unit_and_range()]));
        }
        Some(table)
    }
}

/// The value of a target in metrics.
fn value<'m>(metrics: &'m Value, target: &str) -> Option<&'m Value> {
    let mut keys = target.split('.');
    keys.try_fold(metrics, |value, key| value.get(key))
}

fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "none".to_owned(), short_number)
}

/// The lowest, the middle and the highest of many; of words, how many there are of each is too much.
fn spread(values: &[Option<&Value>]) -> Vec<String> {
    let mut numbers: Vec<&Value> = values.iter().flatten().copied().collect();
    if !numbers.iter().all(|value| value.is_number()) || numbers.is_empty() {
        return vec!["…".to_owned(); 3];
    }
    let number = |value: &Value| value.as_f64().unwrap_or_default();
    numbers.sort_by(|left, right| number(left).total_cmp(&number(right)));
    let places = [0, numbers.len() / 2, numbers.len() - 1];
    places
        .map(|place| short_number(numbers[place]))
        .into_iter()
        .collect()
}
