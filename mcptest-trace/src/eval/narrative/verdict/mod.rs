//! Claims against calls: which call supports a claim, what a claim may not say of it, and the report.

pub(super) mod call_facts;
pub(super) mod covers;
pub(super) mod detail_check;
pub(super) mod detail_values;
pub(super) mod doers;
pub(super) mod judge;
pub(super) mod people;
pub(super) mod report;
pub(super) mod unclaimed;
pub(super) mod without_call;
