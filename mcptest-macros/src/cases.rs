//! Writing the cases of a suite as test functions.

use std::collections::BTreeMap;

use mcptest_suite::{Case, CaseKind};
use proc_macro2::{Span, TokenStream as Tokens};
use quote::quote_spanned;
use syn::{Error, Ident, ItemMod};

use crate::arguments::{Arguments, Function};
use crate::file::Loaded;

/// The module with the cases added to its items.
pub(crate) fn module(
    arguments: &Arguments,
    loaded: &Loaded,
    mut module: ItemMod,
) -> Result<Tokens, Error> {
    let Some((_, items)) = &mut module.content else {
        return Err(Error::new_spanned(
            &module,
            format!(
                "the tests are written into the module itself: write `mod {} {{}}`",
                module.ident
            ),
        ));
    };
    let span = arguments.path.span();
    let mut tree = Tree::default();
    for case in loaded.suite.cases() {
        tree.insert(case);
    }
    let agent = Function::new(arguments, loaded, &module.ident);
    items.extend(shared(loaded, &agent, span)?);
    items.extend(syn::parse2::<syn::File>(tree.write(loaded, span, 0))?.items);
    let beside = agent.beside;
    Ok(quote::quote! { #beside #module })
}

/// What every case of the module calls, and what makes cargo rebuild when the file changes.
fn shared(loaded: &Loaded, agent: &Function, span: Span) -> Result<Vec<syn::Item>, Error> {
    let (rebuild, case) = (rebuild(loaded, span), macro_case(loaded, agent, span));
    let harness = &loaded.harness;
    let file: syn::File = syn::parse2(quote_spanned! { span =>
        #rebuild

        #[cfg(test)]
        fn __mcptest_case(case: &str, agent: &str) -> ::core::result::Result<(), ::#harness::__private::Shown> {
            ::#harness::__private::run_case(&#case)
        }
    })?;
    Ok(file.items)
}

/// Makes cargo rebuild when the suite file changes.
pub(crate) fn rebuild(loaded: &Loaded, span: Span) -> Tokens {
    let path = loaded.path.to_string_lossy();
    quote_spanned! { span =>
        #[cfg(test)]
        const _: &[u8] = ::core::include_bytes!(#path);
    }
}

/// The case of the names `case` and `agent`, which are in scope where this is written.
pub(crate) fn macro_case(loaded: &Loaded, function: &Function, span: Span) -> Tokens {
    let function = &function.in_case;
    let Loaded {
        shown,
        relative,
        harness,
        ..
    } = loaded;
    quote_spanned! { span =>
        ::#harness::__private::MacroCase {
            crate_dir: ::core::env!("CARGO_MANIFEST_DIR"),
            package: ::core::env!("CARGO_PKG_NAME"),
            suite: #shown,
            relative: #relative,
            module: ::core::module_path!(),
            case,
            agent,
            function: #function,
        }
    }
}

/// Cases by the segments of their names.
#[derive(Default)]
pub(crate) struct Tree {
    case: Option<Case>,
    below: BTreeMap<String, Tree>,
}

impl Tree {
    pub(crate) fn insert(&mut self, case: Case) {
        let name = case.name.clone();
        let place = name.split("::").fold(self, |tree, segment| {
            tree.below.entry(segment.to_owned()).or_default()
        });
        place.case = Some(case);
    }

    /// A function for each case and a module for what lies below it. The functions call
    /// `__mcptest_case`, `depth` modules up.
    pub(crate) fn write(&self, loaded: &Loaded, span: Span, depth: usize) -> Tokens {
        let harness = &loaded.harness;
        let up = std::iter::repeat_n(quote_spanned! { span => super:: }, depth).collect::<Tokens>();
        let items = self.below.iter().map(|(segment, tree)| {
            let name = Ident::new(segment, span);
            let test = tree.case.as_ref().map(|case| {
                let (full, agent) = (&case.name, agent_case_name(loaded, case));
                let ignored = case
                    .ignored
                    .clone()
                    .or_else(|| unjudged_reason(loaded, case));
                let ignore = ignored.map(|reason| {
                    let reason = mcptest_suite::escape_line(&reason);
                    quote_spanned! { span => #[ignore = #reason] }
                });
                quote_spanned! { span =>
                    #[cfg(test)]
                    #[test]
                    #ignore
                    fn #name() -> ::core::result::Result<(), ::#harness::__private::Shown> {
                        #up __mcptest_case(#full, #agent)
                    }
                }
            });
            let below = (!tree.below.is_empty()).then(|| {
                let below = tree.write(loaded, span, depth + 1);
                quote_spanned! { span =>
                    #[cfg(test)]
                    mod #name { #below }
                }
            });
            quote_spanned! { span => #test #below }
        });
        items.collect()
    }
}

/// Why an agent's own case judges nothing, where nothing that is asked of the agent is run here.
fn unjudged_reason(loaded: &Loaded, case: &Case) -> Option<String> {
    let CaseKind::Agent(subject) = case.kind else {
        return None;
    };
    let agent = &loaded.suite.agents[subject.agent];
    agent
        .unsupported_reason()
        .or_else(|| agent.checks_only_reason())
}

/// The name of the own case of the agent that a case is about.
fn agent_case_name(loaded: &Loaded, case: &Case) -> String {
    let subject = case.kind.subject();
    subject.map_or(String::new(), |subject| {
        loaded.suite.agents[subject.agent].case_name(subject.model)
    })
}
