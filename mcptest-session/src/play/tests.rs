//! Playing: a small agent in each wire format, against recordings of each kind.

mod agent;
mod answers;
mod changes;
mod turns;
