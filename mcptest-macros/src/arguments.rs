//! What stands in the attribute's brackets: the suite's path, and the function that is its agent.

use proc_macro2::{Span, TokenStream as Tokens};
use quote::{format_ident, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::{Error, Expr, Ident, LitStr, Token};

use crate::file::Loaded;

const USAGE: &str = "expected the suite's path, as in `#[mcptest::suite(\"checkout.yml\")]`";
const AGENT: &str = "expected `agent = run` after the suite's path: `run` is an async function `fn(mcptest::Session) -> Result<(), …>` that is the agent";

/// The arguments of the attribute.
pub(crate) struct Arguments {
    /// The suite's path.
    pub(crate) path: LitStr,
    /// The function that is every agent of the suite.
    pub(crate) agent: Option<Expr>,
}

/// The arguments, or what is wrong with them.
pub(crate) fn read(arguments: Tokens) -> Result<Arguments, Error> {
    if arguments.is_empty() {
        return Err(Error::new(Span::call_site(), USAGE));
    }
    syn::parse2(arguments)
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Self, Error> {
        let path = input
            .parse()
            .map_err(|error| Error::new(error.span(), USAGE))?;
        let comma: Option<Token![,]> = input.parse()?;
        if input.is_empty() {
            return Ok(Self { path, agent: None });
        }
        if comma.is_none() {
            return Err(input.error(USAGE));
        }
        let wrong = |error: &Error| Error::new(error.span(), AGENT);
        let name: Ident = input.parse().map_err(|error| wrong(&error))?;
        if name != "agent" {
            return Err(Error::new(name.span(), AGENT));
        }
        input.parse::<Token![=]>().map_err(|error| wrong(&error))?;
        let agent = input.parse().map_err(|error| wrong(&error))?;
        input.parse::<Option<Token![,]>>()?;
        if !input.is_empty() {
            return Err(input.error(AGENT));
        }
        let agent = Some(agent);
        Ok(Self { path, agent })
    }
}

/// The agent's function as the tests of a module find it.
pub(crate) struct Function {
    /// What stands beside the module: there the attribute's names mean what their author meant.
    pub(crate) beside: Tokens,
    /// What stands in the case, in the module.
    pub(crate) in_case: Tokens,
}

impl Function {
    /// The agent's function of an attribute. `module` is the name of the module or check that has the attribute.
    pub(crate) fn new(arguments: &Arguments, loaded: &Loaded, module: &Ident) -> Self {
        let (span, harness) = (arguments.path.span(), &loaded.harness);
        let Some(agent) = &arguments.agent else {
            return Self {
                beside: Tokens::new(),
                in_case: quote_spanned! { span => ::core::option::Option::None },
            };
        };
        let name = format_ident!("__mcptest_agent_of_{}", module, span = span);
        Self {
            beside: quote_spanned! { span =>
                #[cfg(test)]
                fn #name() -> ::#harness::__private::AgentFunction {
                    ::#harness::__agent_function!(#agent)
                }
            },
            in_case: quote_spanned! { span => ::core::option::Option::Some(super::#name) },
        }
    }
}
