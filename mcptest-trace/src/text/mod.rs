//! Words in messages: what came from outside made safe to print, and what was probably meant. For the
//! crates of this workspace alone: no promise is made of it.

mod blocks;
mod columns;
mod counted;
mod cut;
mod escape;
mod markdown;
mod slug;
mod suggest;
mod variable;

pub use blocks::{MarkdownBlock, joined};
pub use columns::{COLUMNS, ended, filled, fitted, width, wrapped};
pub use counted::counted;
pub(crate) use cut::cut;
pub use escape::{escape, escape_line, escape_stored_line, is_hostile};
pub use markdown::{escape_markdown, escape_markdown_but_code};
pub use slug::slug;
pub use suggest::{misspelt, nearest, quoted_list};
pub use variable::variable;
