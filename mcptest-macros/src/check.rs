//! Writing a check of the user's own as test functions, one an agent test.

use mcptest_suite::CaseKind;
use proc_macro2::TokenStream as Tokens;
use quote::quote_spanned;
use syn::{Error, FnArg, ItemFn, Type};

use crate::arguments::{Arguments, Function};
use crate::cases::{Tree, macro_case, rebuild};
use crate::file::Loaded;

/// The function as it is, and a module of its name with one test for each agent test.
pub(crate) fn function(
    arguments: &Arguments,
    loaded: &Loaded,
    function: &ItemFn,
) -> Result<Tokens, Error> {
    check_signature(function)?;
    let span = arguments.path.span();
    let name = &function.sig.ident;
    let mut tree = Tree::default();
    for case in loaded.suite.cases() {
        if matches!(case.kind, CaseKind::Agent(_)) {
            tree.insert(case);
        }
    }
    let tests = tree.write(loaded, span, 0);
    let agent = Function::new(arguments, loaded, name);
    let (rebuild, case) = (rebuild(loaded, span), macro_case(loaded, &agent, span));
    let beside = agent.beside;
    let harness = &loaded.harness;
    Ok(quote_spanned! { span =>
        #[cfg_attr(not(test), allow(dead_code))]
        #function

        #beside

        #[cfg(test)]
        mod #name {
            #rebuild

            fn __mcptest_case(case: &str, agent: &str) -> ::core::result::Result<(), ::#harness::__private::Shown> {
                ::#harness::__private::run_check(&#case, super::#name)
            }

            #tests
        }
    })
}

/// What is wrong with a signature is said here, at its place, with the right one beside it.
fn check_signature(function: &ItemFn) -> Result<(), Error> {
    let signature = &function.sig;
    let right = format!(
        "a check is written `fn {}(runs: &mcptest::AgentRuns)`, and may return a `Result`",
        signature.ident
    );
    let takes_runs = |argument: &FnArg| match argument {
        FnArg::Typed(typed) => match &*typed.ty {
            Type::Reference(reference) if reference.mutability.is_none() => {
                match &*reference.elem {
                    Type::Path(path) => path
                        .path
                        .segments
                        .last()
                        .is_some_and(|last| last.ident == "AgentRuns"),
                    _ => false,
                }
            }
            _ => false,
        },
        FnArg::Receiver(_) => false,
    };
    let fits = signature.inputs.len() == 1 && signature.inputs.iter().all(takes_runs);
    if signature.asyncness.is_some() || !signature.generics.params.is_empty() || !fits {
        return Err(Error::new_spanned(signature, right));
    }
    Ok(())
}
