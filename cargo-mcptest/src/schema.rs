//! `cargo mcptest schema`: the JSON Schemas, for editors and other programs.

use crate::failure::Failure;
use crate::output::Output;
use crate::status::ExitStatus;

/// Prints the JSON Schema of a file format, for an editor or another program.
///
/// Example: `cargo mcptest schema suite`
#[derive(Debug, clap::Args)]
pub(crate) struct Schema {
    /// The file format.
    #[arg(value_enum)]
    of: SchemaKind,
}

/// What has a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum SchemaKind {
    /// A suite: `suites/*.yml`.
    Suite,
    /// A recorded run.
    Cassette,
    /// The result of a case, as `MCPTEST_RESULTS` writes it.
    Results,
}

impl Schema {
    pub(crate) fn run(&self, output: &mut Output<'_>) -> Result<ExitStatus, Failure> {
        let schema = match self.of {
            SchemaKind::Suite => mcptest_suite::SUITE_SCHEMA,
            SchemaKind::Cassette => mcptest_trace::trace::CASSETTE_SCHEMA,
            SchemaKind::Results => mcptest::result::RESULTS_SCHEMA,
        };
        write!(output.out, "{schema}")?;
        Ok(ExitStatus::Holds)
    }
}
