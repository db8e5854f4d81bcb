//! What the evidence says of 120 recorded runs of a real agent (30 agents of 4 runs), which lie in
//! `../shared/data` beside the workspace, or where `MCPTEST_SHARED_DATA` says. Where they are absent
//! every test is listed as ignored, with the reason.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_precision_loss,
    reason = "helpers of tests"
)]

mod calibrate;
mod compare;
mod flow;
mod mutants;
mod runs;

use std::process::ExitCode;

use e2e_support::{real_runs, tests};

const TESTS: &[(&str, fn())] = tests! {
    compare::the_first_runs_against_the_last;
    compare::a_candidate_that_does_worse_in_every_way;
    compare::random_halves_alarm_no_more_than_stated;
    calibrate::every_target_has_its_power_its_limit_and_its_price;
    calibrate::the_limits_that_tell_agents_apart_together;
    calibrate::the_comment_above_a_limit;
    calibrate::the_default_guard_stops_too_many_runs;
    calibrate::cross_run_targets_have_no_power;
    flow::values_that_a_page_planted_are_red;
    flow::runs_that_took_nothing_of_a_page_are_not_red;
    mutants::the_sites_of_the_passed_runs;
    mutants::the_sites_of_all_runs;
    mutants::what_the_gates_notice_in_the_passed_runs;
    mutants::what_the_gates_notice_in_all_runs;
    mutants::false_claims_read_as_claims;
    mutants::mutants_a_second;
};

fn main() -> ExitCode {
    real_runs::run(TESTS)
}
