//! Words in messages: what came from outside made safe to print, and what was probably meant. For the
//! crates of this workspace alone: no promise is made of it.

mod blocks;
mod columns;
mod difference;
mod escape;
mod invisible_difference;
mod lookalikes;
mod markdown;
mod numbers;
mod pluralize;
mod short;
mod skeleton;
mod slug;
mod suggest;
mod truncate;
mod variable_name;

pub use blocks::{MarkdownBlock, join_blocks};
pub use columns::{COLUMNS, pad_to, truncate_end, truncate_middle, unbroken_words, width, wrap};
pub use difference::difference;
pub use escape::{escape, escape_line, escape_stored_line, is_hostile};
pub use invisible_difference::{
    TextForm, describe_invisible_difference, describe_invisible_difference_in, normalised,
};
pub use lookalikes::{escape_lookalike_pair, escape_lookalikes};
pub use markdown::{escape_markdown, escape_markdown_but_code};
pub use numbers::{format_dollars, run_numbers, with_thousands};
pub use pluralize::pluralize;
pub use short::{escape_outer_spaces, kind, short_json, shorten};
pub use skeleton::{find_lookalike, lookalike_pairs};
pub use slug::slug;
pub use suggest::{misspelt, nearest, quoted_list};
pub use truncate::{truncate, truncate_lines};
pub use variable_name::variable_name;
