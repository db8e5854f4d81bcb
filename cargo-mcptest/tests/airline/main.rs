//! The evidence that the command gives of 120 recorded runs of a real agent (30 agents of 4 runs), which
//! lie in `../shared/data` beside the workspace, or where `MCPTEST_SHARED_DATA` says. Where they are
//! absent every test is listed as ignored, with the reason.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests"
)]

mod calibrate;
mod compare;
mod data;
mod mutants;
mod permuted;
mod starter;
mod unseen;

use std::process::ExitCode;

use e2e_support::{real_runs, tests};

const TESTS: &[(&str, fn())] = tests! {
    compare::the_first_runs_against_the_last;
    compare::the_text_fits_a_terminal;
    compare::a_candidate_that_does_worse_in_every_way;
    calibrate::every_target_has_its_power_its_limit_and_its_price;
    calibrate::cross_run_targets_have_no_power;
    calibrate::thresholds_are_written_once;
    mutants::what_the_suite_notices;
    mutants::a_plan_of_the_writes_notices_more;
    permuted::thresholds_rest_on_no_number_of_a_run;
    permuted::mutants_rest_on_no_number_of_a_run;
    permuted::a_comparison_rests_on_no_number_of_a_run;
    starter::a_first_suite_is_green_and_notices_most;
    starter::so_is_that_of_the_benchmarks_own_file;
    starter::so_is_that_of_other_domains;
    unseen::most_good_runs_are_green;
};

fn main() -> ExitCode {
    real_runs::run(TESTS)
}
