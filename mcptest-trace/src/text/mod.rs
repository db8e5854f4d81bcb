//! Words in messages: what came from outside made safe to print, and what was probably meant. For the
//! crates of this workspace alone: no promise is made of it.

mod blocks;
mod columns;
mod escape;
mod markdown;
mod pluralize;
mod slug;
mod suggest;
mod truncate;
mod variable_name;

pub use blocks::{MarkdownBlock, join_blocks};
pub use columns::{COLUMNS, pad_to, truncate_end, truncate_middle, width, wrap};
pub use escape::{escape, escape_line, escape_stored_line, is_hostile};
pub use markdown::{escape_markdown, escape_markdown_but_code};
pub use pluralize::pluralize;
pub use slug::slug;
pub use suggest::{misspelt, nearest, quoted_list};
pub(crate) use truncate::truncate;
pub use variable_name::variable_name;
