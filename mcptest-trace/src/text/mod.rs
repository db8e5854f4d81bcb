//! Words in messages: what came from outside made safe to print, and what was probably meant. For the
//! crates of this workspace alone: no promise is made of it.

mod clean;
mod suggest;

pub use clean::{clean, clean_line, is_hostile};
pub use suggest::{misspelt, nearest, quoted_list};
