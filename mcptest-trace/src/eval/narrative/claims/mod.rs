//! What a closing message claims: its tokens, clauses and scopes, the rules that find a claim, and what it is about.

pub(super) mod context;
pub(super) mod group;
pub(super) mod object;
pub(super) mod reading;
pub(super) mod rules;
pub(super) mod scope;
pub(super) mod sentence;
pub(super) mod tokenizer;
pub(super) mod vocabulary;
