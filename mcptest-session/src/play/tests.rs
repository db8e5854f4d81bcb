//! Playing: a small agent in each wire format, against recordings of each kind.

mod agent;
mod answers;
mod changes;
mod closings;
mod equal;
mod kept;
mod known;
mod pasts;
mod requests;
mod told_results;
mod turns;
mod unread;
mod went_by;
