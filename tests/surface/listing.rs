//! The public items of a crate, a line each: what its users can name, and what they can do with it.

use std::collections::{BTreeMap, BTreeSet};

use quote::ToTokens;
use syn::{Attribute, Fields, ImplItem, Item, Meta, TraitItem, Type, Visibility};

use crate::sources::{Module, attributes};

/// An item of the crate: its module, and its place there.
type ItemPlace = (usize, usize);

/// How many `use`s of all names of a module are followed one after the other.
const MOST_USES: usize = 8;

/// What a path leads to.
enum Found {
    Module(usize),
    Item(ItemPlace),
    /// Something of another crate.
    Elsewhere(String),
}

/// All that is public, each item under its shortest path.
pub(crate) fn list_public(modules: &[Module]) -> String {
    let mut listing = Listing {
        modules,
        paths: BTreeMap::new(),
        lines: BTreeSet::new(),
        seen: BTreeSet::new(),
    };
    listing.module(0, &modules[0].path.clone());
    listing.exported_macros();
    listing.items();
    let lines = listing.lines.into_iter().map(|line| line.1 + "\n");
    lines.collect()
}

struct Listing<'m> {
    modules: &'m [Module],
    /// The public paths of each item.
    paths: BTreeMap<ItemPlace, BTreeSet<(usize, String)>>,
    /// Lines, sorted by the path that each belongs to.
    lines: BTreeSet<(String, String)>,
    seen: BTreeSet<(usize, String)>,
}

impl Listing<'_> {
    /// Follows what is public in a module that can be reached as `path`.
    fn module(&mut self, index: usize, path: &str) {
        if !self.seen.insert((index, path.to_owned())) {
            return;
        }
        self.line(path, format!("mod {path}"));
        let module = &self.modules[index];
        for (name, (inner, public)) in &module.modules {
            if *public {
                self.module(*inner, &format!("{path}::{name}"));
            }
        }
        for (place, item) in module.items.iter().enumerate() {
            match item_name(item) {
                Some((name, true)) => self.path((index, place), format!("{path}::{name}")),
                // What a macro writes is not seen here; the macro is.
                None if matches!(item, Item::Macro(item) if item.ident.is_none()) => {
                    self.line(path, format!("{path}: {}", format_tokens(item)));
                }
                _ => {}
            }
        }
        for used in module.uses.iter().filter(|used| used.public) {
            let found = self.resolve(index, &used.path);
            let name = used.name.as_deref().unwrap_or("*");
            let here = format!("{path}::{name}");
            match (found, &used.name) {
                (Found::Module(inner), Some(_)) => self.module(inner, &here),
                (Found::Module(inner), None) => self.module(inner, path),
                (Found::Item(place), _) => self.path(place, here),
                (Found::Elsewhere(there), _) => {
                    let all = if used.name.is_none() { "::*" } else { "" };
                    self.line(&here, format!("use {here} = {there}{all}"));
                }
            }
        }
    }

    fn exported_macros(&mut self) {
        for module in self.modules {
            for item in &module.items {
                let exported = attributes(item)
                    .iter()
                    .any(|attribute| attribute.path().is_ident("macro_export"));
                if let (true, Item::Macro(item)) = (exported, item) {
                    let root = &self.modules[0].path;
                    let name = item.ident.as_ref().unwrap();
                    let path = format!("{root}::{name}");
                    let line = format!("macro {path}! {}", format_tokens(&item.mac.tokens));
                    self.lines.insert((path, line));
                }
            }
        }
    }

    fn path(&mut self, place: ItemPlace, path: String) {
        let steps = path.matches("::").count();
        self.paths.entry(place).or_default().insert((steps, path));
    }

    fn line(&mut self, path: &str, line: String) {
        self.lines.insert((path.to_owned(), line));
    }

    /// What a path means in a module.
    fn resolve(&self, mut module: usize, path: &[String]) -> Found {
        let mut steps = path.iter().map(String::as_str).peekable();
        while let Some(step) = steps.peek() {
            match *step {
                "crate" => module = 0,
                "super" => module = self.modules[module].parent.unwrap_or(0),
                "self" => {}
                _ => break,
            }
            steps.next();
        }
        let mut found = Found::Module(module);
        for step in steps {
            let Found::Module(inside) = found else {
                return Found::Elsewhere(path.join("::"));
            };
            found = match self.resolve_name(inside, step, MOST_USES) {
                Some(found) => found,
                // Of another crate, or written by a macro.
                None => return Found::Elsewhere(path.join("::")),
            };
        }
        found
    }

    /// What a name means in a module; `left` is how many `use`s of all names are still followed, which
    /// may lead in a circle.
    fn resolve_name(&self, module: usize, name: &str, left: usize) -> Option<Found> {
        let inside = &self.modules[module];
        if let Some((module, _)) = inside.modules.get(name) {
            return Some(Found::Module(*module));
        }
        let is_it = |item: &Item| item_name(item).is_some_and(|(known, _)| known == name);
        if let Some(place) = inside.items.iter().position(is_it) {
            return Some(Found::Item((module, place)));
        }
        let used = inside.uses.iter();
        let mut used = used.filter(|used| used.name.as_deref() == Some(name));
        if let Some(used) = used.next() {
            return Some(self.resolve(module, &used.path));
        }
        let mut all = inside.uses.iter().filter(|used| used.name.is_none());
        all.find_map(|used| {
            let inside = matches!(used.path.first()?.as_str(), "crate" | "self" | "super")
                || inside.modules.contains_key(&used.path[0]);
            if !inside || left == 0 {
                return None;
            }
            match self.resolve(module, &used.path) {
                Found::Module(inner) => self.resolve_name(inner, name, left - 1),
                _ => None,
            }
        })
    }

    /// Every public item with what it has.
    fn items(&mut self) {
        for (place, paths) in std::mem::take(&mut self.paths) {
            let mut paths = paths.into_iter().map(|(_, path)| path);
            let path = paths.next().unwrap();
            for other in paths {
                self.line(&other, format!("use {other} = {path}"));
            }
            let item = &self.modules[place.0].items[place.1];
            for line in declaration_lines(item, &path) {
                self.line(&path, line);
            }
            for (line, of) in self.implementations(place) {
                self.line(&path, line.replace("{}", &path) + &of);
            }
        }
    }

    /// What is implemented for an item, `{}` for its path.
    fn implementations(&self, place: ItemPlace) -> Vec<(String, String)> {
        let mut lines = Vec::new();
        for (index, module) in self.modules.iter().enumerate() {
            for item in &module.items {
                let Item::Impl(implemented) = item else {
                    continue;
                };
                let Type::Path(of) = &*implemented.self_ty else {
                    continue;
                };
                let segments = of.path.segments.iter();
                let path: Vec<String> = segments.map(|step| step.ident.to_string()).collect();
                if !matches!(self.resolve(index, &path), Found::Item(found) if found == place) {
                    continue;
                }
                if let Some((of, _)) = &implemented.trait_ {
                    lines.push(("impl {}: ".to_owned(), format_tokens(of)));
                    continue;
                }
                for item in &implemented.items {
                    match item {
                        ImplItem::Fn(method) if is_public(&method.vis) => {
                            lines.push((
                                "fn {}::".to_owned(),
                                signature(&method.sig, &method.attrs),
                            ));
                        }
                        ImplItem::Const(item) if is_public(&item.vis) => {
                            let line = format!("{}: {}", item.ident, format_tokens(&item.ty));
                            lines.push(("const {}::".to_owned(), line));
                        }
                        _ => {}
                    }
                }
            }
        }
        lines
    }
}

/// The name of an item, and whether it is public.
fn item_name(item: &Item) -> Option<(String, bool)> {
    let (name, visibility) = match item {
        Item::Const(item) => (&item.ident, &item.vis),
        Item::Enum(item) => (&item.ident, &item.vis),
        Item::Fn(item) => (&item.sig.ident, &item.vis),
        Item::Static(item) => (&item.ident, &item.vis),
        Item::Struct(item) => (&item.ident, &item.vis),
        Item::Trait(item) => (&item.ident, &item.vis),
        Item::Type(item) => (&item.ident, &item.vis),
        Item::Union(item) => (&item.ident, &item.vis),
        _ => return None,
    };
    Some((name.to_string(), is_public(visibility)))
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// The lines of an item itself: its kind, what it derives, its fields or variants.
fn declaration_lines(item: &Item, path: &str) -> Vec<String> {
    let marks = attribute_marks(attributes(item));
    match item {
        Item::Const(item) => vec![format!("const {path}: {}{marks}", format_tokens(&item.ty))],
        Item::Static(item) => vec![format!("static {path}: {}{marks}", format_tokens(&item.ty))],
        Item::Fn(item) => {
            let (parent, name) = path.rsplit_once("::").unwrap();
            // It may have another name where it is public.
            let own = item.sig.ident.to_string();
            let signed = signature(&item.sig, &item.attrs).replacen(&own, name, 1);
            vec![format!("fn {parent}::{signed}")]
        }
        Item::Type(item) => vec![format!("type {path} = {}{marks}", format_tokens(&item.ty))],
        Item::Struct(item) => {
            let hidden = item.fields.iter().any(|field| !is_public(&field.vis));
            let private = if hidden { " { private fields }" } else { "" };
            let generics = format_tokens(&item.generics);
            let mut lines = vec![format!("struct {path}{generics}{private}{marks}")];
            lines.extend(fields(&item.fields, path, false));
            lines
        }
        Item::Enum(item) => {
            let mut lines = vec![format!(
                "enum {path}{}{marks}",
                format_tokens(&item.generics)
            )];
            for variant in &item.variants {
                let path = format!("{path}::{}", variant.ident);
                lines.push(format!(
                    "variant {path}{}",
                    self::attribute_marks(&variant.attrs)
                ));
                lines.extend(fields(&variant.fields, &path, true));
            }
            lines
        }
        Item::Trait(item) => {
            let bounds = if item.supertraits.is_empty() {
                String::new()
            } else {
                format!(": {}", format_tokens(&item.supertraits))
            };
            let mut lines = vec![format!(
                "trait {path}{}{bounds}{marks}",
                format_tokens(&item.generics)
            )];
            for item in &item.items {
                lines.push(match item {
                    TraitItem::Fn(method) => {
                        let given = if method.default.is_some() {
                            " { given }"
                        } else {
                            ""
                        };
                        format!(
                            "fn {path}::{}{given}",
                            signature(&method.sig, &method.attrs)
                        )
                    }
                    other => format!("{path}: {}", format_tokens(other)),
                });
            }
            lines
        }
        _ => Vec::new(),
    }
}

fn fields<'f>(fields: &'f Fields, path: &'f str, all: bool) -> impl Iterator<Item = String> + 'f {
    let fields = fields.iter().enumerate();
    let public = fields.filter(move |(_, field)| all || is_public(&field.vis));
    public.map(move |(index, field)| {
        let name = field
            .ident
            .as_ref()
            .map_or(index.to_string(), ToString::to_string);
        format!(
            "field {path}.{name}: {}{}",
            format_tokens(&field.ty),
            attribute_marks(&field.attrs)
        )
    })
}

fn signature(signature: &syn::Signature, attributes: &[Attribute]) -> String {
    let text = format_tokens(signature);
    let (_, text) = text.split_once("fn ").unwrap();
    let constant = if signature.constness.is_some() {
        " const"
    } else {
        ""
    };
    // Whether a value that was given away is changed within is nothing that a user sees.
    let text = text.replacen("(mut self", "(self", 1);
    format!("{text}{constant}{}", attribute_marks(attributes))
}

/// What attributes say that a user can notice.
fn attribute_marks(attributes: &[Attribute]) -> String {
    let noticed = attributes.iter().filter_map(|attribute| {
        let text = format_tokens(&attribute.meta);
        let said = match &attribute.meta {
            Meta::Path(path) => path.is_ident("non_exhaustive") || path.is_ident("default"),
            Meta::List(list) => list.path.is_ident("derive") || text == "doc(hidden)",
            Meta::NameValue(_) => false,
        };
        said.then(|| format!(" #[{text}]"))
    });
    noticed.collect()
}

/// Tokens with the spaces that people write.
fn format_tokens(tokens: &(impl ToTokens + ?Sized)) -> String {
    let mut text = tokens.to_token_stream().to_string();
    text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (from, to) in [
        (" :: ", "::"),
        (":: ", "::"),
        (" ::", "::"),
        (" < ", "<"),
        ("< ", "<"),
        (" >", ">"),
        ("<-> ", "<->"),
        ("& ", "&"),
        (" ,", ","),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        (" :", ":"),
        ("[ ", "["),
        (" ]", "]"),
        (" ;", ";"),
        (" !", "!"),
        ("* const", "*const"),
        (", >", ">"),
        (",)", ")"),
        (" '", " '"),
        ("->(", "-> ("),
        ("=(", "= ("),
    ] {
        text = text.replace(from, to);
    }
    text
}
