//! Finds every ordering of a source file and its place.

use std::fmt;
use std::fs;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use crate::failure::Failure;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Order {
    Relaxed,
    Release,
    Acquire,
    AcqRel,
    SeqCst,
}

impl Order {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "Relaxed" => Self::Relaxed,
            "Release" => Self::Release,
            "Acquire" => Self::Acquire,
            "AcqRel" => Self::AcqRel,
            "SeqCst" => Self::SeqCst,
            _ => return None,
        })
    }

    /// Returns the orderings that are one step weaker, in an operation that `loads` and `stores`.
    fn weaker(self, loads: bool, stores: bool) -> &'static [Self] {
        match self {
            Self::Relaxed => &[],
            Self::Acquire | Self::Release => &[Self::Relaxed],
            Self::AcqRel => &[Self::Release, Self::Acquire],
            Self::SeqCst if loads && stores => &[Self::AcqRel],
            Self::SeqCst if loads => &[Self::Acquire],
            Self::SeqCst => &[Self::Release],
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// An ordering in the source.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    /// The path of the file, as the compiler names it.
    pub(crate) file: String,
    pub(crate) line: usize,
    /// The column where the call's name begins, counted from 1, as the compiler reports it.
    pub(crate) column: usize,
    /// The index of the ordering among the orderings of the call.
    pub(crate) operand: usize,
    pub(crate) order: Order,
    pub(crate) operation: String,
    /// The function that contains the call.
    pub(crate) function: String,
    /// The line of a comment at the call that argues for the ordering, if there is one.
    pub(crate) argued: Option<usize>,
}

impl Site {
    /// Returns the orderings to try instead.
    pub(crate) fn weaker(&self) -> &'static [Order] {
        let is_load = self.operand == 1 || matches!(&*self.operation, "load" | "wait_until");
        self.order.weaker(self.operation != "store", !is_load)
    }

    /// Returns the place in the form that `kilocore_checking::weakening` reads.
    pub(crate) fn place(&self) -> String {
        format!("{}:{}:{}", self.file, self.line, self.column)
    }
}

/// The operations that take orderings as arguments.
const OPERATIONS: [&str; 10] = [
    "load",
    "store",
    "swap",
    "compare_exchange",
    "compare_exchange_weak",
    "fetch_add",
    "fetch_sub",
    "fetch_and",
    "fetch_or",
    "fence",
];

/// The mark of a comment that argues for an ordering.
const MARK: &str = "Argued:";

/// How many lines above a call such a comment may stand.
const REACH: usize = 12;

/// Returns all orderings of `root`/`file`, in the order of the source.
///
/// # Errors
/// If the file cannot be read or parsed, or if it has an ordering that is not an argument of a call
/// and so could not be weakened.
pub(crate) fn sites(root: &Path, file: &str) -> Result<Vec<Site>, Failure> {
    let source =
        fs::read_to_string(root.join(file)).map_err(|error| Failure(format!("{file}: {error}")))?;
    let tokens: TokenStream =
        source.parse().map_err(|error| Failure(format!("{file}: {error}")))?;
    let parsed: syn::File =
        syn::parse2(tokens).map_err(|error| Failure(format!("{file}: {error}")))?;
    let items = parsed.items.into_iter().filter(|item| !is_test(attributes(item)));
    let mut finder = Finder {
        file,
        lines: source.lines().collect(),
        function: String::new(),
        sites: Vec::new(),
    };
    let mut written = 0;
    for item in items {
        if matches!(item, syn::Item::Use(_)) {
            continue;
        }
        written += orderings(quote(&item));
        finder.visit_item(&item);
    }
    let found = finder.sites.iter().filter(|site| site.operation != "wait_until").count();
    if found != written {
        let what = format!("{file}: {written} orderings, of which {found} are arguments of calls");
        return Err(Failure(what));
    }
    Ok(finder.sites)
}

fn quote(item: &syn::Item) -> TokenStream {
    use quote::ToTokens;
    item.to_token_stream()
}

/// Counts how many times `Ordering::` is written, followed by the name of an ordering.
fn orderings(tokens: TokenStream) -> usize {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let inner = trees.iter().map(|tree| match tree {
        TokenTree::Group(group) => orderings(group.stream()),
        _ => 0,
    });
    let here = trees.windows(4).filter(|window| match window {
        [
            TokenTree::Ident(ty),
            TokenTree::Punct(_),
            TokenTree::Punct(_),
            TokenTree::Ident(name),
        ] => ty == "Ordering" && Order::named(&name.to_string()).is_some(),
        _ => false,
    });
    here.count() + inner.sum::<usize>()
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Mod(module) => &module.attrs,
        syn::Item::Fn(function) => &function.attrs,
        syn::Item::Impl(block) => &block.attrs,
        syn::Item::Macro(call) => &call.attrs,
        _ => &[],
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        matches!(&attribute.meta, syn::Meta::List(list)
            if list.path.is_ident("cfg") && list.tokens.to_string() == "test")
    })
}

struct Finder<'a> {
    file: &'a str,
    lines: Vec<&'a str>,
    function: String,
    sites: Vec<Site>,
}

impl Finder<'_> {
    fn add(&mut self, start: proc_macro2::LineColumn, operation: &str, orders: &[Order]) {
        for (operand, &order) in orders.iter().enumerate() {
            self.sites.push(Site {
                file: self.file.to_owned(),
                line: start.line,
                column: start.column + 1,
                operand,
                order,
                operation: operation.to_owned(),
                function: self.function.clone(),
                argued: self.argument(start.line),
            });
        }
    }

    /// Returns the line of a comment that argues for the call in `line`. It may stand within the
    /// statement or right above it.
    fn argument(&self, line: usize) -> Option<usize> {
        let above = self.lines[..line].iter().enumerate().rev().take(REACH);
        let mut in_comment = false;
        for (index, text) in above {
            let text = text.trim();
            if text.starts_with("//") && text.contains(MARK) {
                return Some(index + 1);
            }
            let is_comment = text.starts_with("//");
            // Anything above the comment that belongs to the call is about other code.
            if text.is_empty() || (in_comment && !is_comment) {
                return None;
            }
            in_comment = is_comment;
        }
        None
    }

    fn within(&mut self, name: &syn::Ident, visit: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.function, name.to_string());
        visit(self);
        self.function = outer;
    }
}

/// Returns the orderings among a call's arguments.
fn orders<'a>(arguments: impl Iterator<Item = &'a syn::Expr>) -> Vec<Order> {
    let order = |argument: &syn::Expr| match argument {
        syn::Expr::Path(path) => {
            let mut segments = path.path.segments.iter().rev();
            let name = segments.next()?.ident.to_string();
            (segments.next()?.ident == "Ordering").then(|| Order::named(&name)).flatten()
        }
        _ => None,
    };
    arguments.filter_map(order).collect()
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.within(&function.sig.ident, |finder| visit::visit_item_fn(finder, function));
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.within(&function.sig.ident, |finder| visit::visit_impl_item_fn(finder, function));
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        visit::visit_expr_method_call(self, call);
        let name = call.method.to_string();
        if OPERATIONS.contains(&&*name) {
            self.add(call.method.span().start(), &name, &orders(call.args.iter()));
        }
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        visit::visit_expr_call(self, call);
        let syn::Expr::Path(path) = &*call.func else { return };
        match path.path.segments.last().map(|segment| segment.ident.to_string()).as_deref() {
            // By the platform's contract, the read that ends the wait is an acquire.
            Some("wait_until") => self.add(call.span().start(), "wait_until", &[Order::Acquire]),
            Some(name) if OPERATIONS.contains(&name) => {
                self.add(call.span().start(), name, &orders(call.args.iter()));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Order, sites};

    fn found(source: &str) -> Result<Vec<String>, String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.rs"), source).unwrap();
        let described = |site: &super::Site| {
            let argued = site.argued.map_or(String::new(), |line| format!(" argued at {line}"));
            format!("{}:{} {} {}{argued}", site.line, site.column, site.operation, site.order)
        };
        let sites = sites(folder.path(), "a.rs").map_err(|failure| failure.to_string())?;
        Ok(sites.iter().map(described).collect())
    }

    #[test]
    fn an_ordering_is_found_where_the_compiler_says_that_the_call_is() {
        let source = "fn f() {
    a.load(core::sync::atomic::Ordering::Acquire);
    a
        .compare_exchange(0, g(|| b.store(1, Ordering::Release)), Ordering::AcqRel, Ordering::Relaxed);
    P::wait_until(&a, Wait::Spin, |a| a == 1);
}";
        let expected = [
            "2:7 load Acquire",
            "4:37 store Release",
            "4:10 compare_exchange AcqRel",
            "4:10 compare_exchange Relaxed",
            "5:5 wait_until Acquire",
        ];
        assert_eq!(found(source).unwrap(), expected);
    }

    #[test]
    fn an_ordering_that_is_no_argument_is_an_error() {
        let error = found("fn f() { let o = Ordering::Acquire; a.load(o); }").unwrap_err();
        assert!(error.contains("1 orderings, of which 0"), "{error}");
    }

    #[test]
    fn orderings_of_tests_and_in_comments_do_not_count() {
        let source = "// Ordering::Acquire
#[cfg(test)]
mod t { fn f() { a.load(Ordering::Acquire); } }
#[cfg(test)]
tests!(|a| a.load(Ordering::Acquire));";
        assert_eq!(found(source).unwrap(), [""; 0]);
    }

    #[test]
    fn an_argument_belongs_to_the_call_right_below_it() {
        let source = "fn f() {
    // Argued: because.
    a.load(Ordering::Acquire);
    // Another remark.
    b.load(Ordering::Acquire);

    c.load(Ordering::Acquire);
}";
        let expected = ["3:7 load Acquire argued at 2", "5:7 load Acquire", "7:7 load Acquire"];
        assert_eq!(found(source).unwrap(), expected);
    }

    #[test]
    fn one_step_is_one_step() {
        assert_eq!(Order::AcqRel.weaker(true, true), [Order::Release, Order::Acquire]);
        assert_eq!(Order::SeqCst.weaker(true, false), [Order::Acquire]);
        assert_eq!(Order::SeqCst.weaker(false, true), [Order::Release]);
        assert!(Order::Relaxed.weaker(true, true).is_empty());
    }
}
