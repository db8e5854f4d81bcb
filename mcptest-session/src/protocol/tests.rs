//! The wire formats: what is written is read again, and what is hostile does no harm.

mod asked;
mod bedrock;
mod clients;
mod hostile;
mod ollama;
mod said;
mod streams;
mod unclean;
mod unread;
mod written;
