#![forbid(unsafe_code)]
//! The `#[mcptest::suite]` attribute. Use it through `mcptest-harness`, whose documentation
//! describes it; this crate only writes the code.
//!
//! The attribute is thin: it finds the suite file, loads it with `mcptest-suite`, and writes one
//! `#[test]` function a case. A suite that does not load is a compile error at the attribute.

mod arguments;
mod cases;
mod check;
mod dependency;
mod file;

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use syn::{Error, Item};

/// Turns the cases of a suite file into `#[test]` functions of a module.
///
/// See `mcptest::suite` in `mcptest-harness`.
#[proc_macro_attribute]
pub fn suite(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand(arguments.into(), item.into())
        .unwrap_or_else(Error::into_compile_error)
        .into()
}

fn expand(arguments: Tokens, item: Tokens) -> Result<Tokens, Error> {
    let arguments = arguments::read(arguments)?;
    let loaded = file::load(&arguments.path)?;
    if arguments.agent.is_some() {
        file::check_no_command(&arguments.path, &loaded)?;
    }
    match syn::parse2(item)? {
        Item::Mod(module) => cases::module(&arguments, &loaded, module),
        Item::Fn(function) => check::function(&arguments, &loaded, &function),
        other => Err(Error::new_spanned(
            other,
            "a suite becomes the tests of a module, `mod checkout {}`, or is given to a check, `fn check(runs: &mcptest::AgentRuns)`",
        )),
    }
}
