//! No files of a crate use one another in a circle.
//!
//! An arrow runs from a file to each file whose items it names, in `use` or by path from `crate`,
//! `self` or `super`. A name that a module only hands on (`pub use`) leads to where it is defined, and
//! handing on is no arrow itself. Tests are left out: `#[cfg(test)]`, and files called `tests.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::Visit;
use syn::{Attribute, Item, UseTree};

/// A module by its names from the root of its crate, which has none.
type Module = Vec<String>;

/// What a file has to say about names.
#[derive(Default)]
struct File {
    /// Where it lies in the workspace.
    path: PathBuf,
    /// Paths that it names, as written, each with the inline modules that it stands in.
    named: Vec<(Module, Vec<String>)>,
    /// Names that it hands on, and the paths that they stand for.
    handed_on: BTreeMap<String, Vec<String>>,
    /// What it hands on whole, by `pub use path::*`.
    handed_on_whole: Vec<Vec<String>>,
}

fn is_test(attributes: &[Attribute]) -> bool {
    let says_test = |attribute: &Attribute| {
        let list = attribute.meta.require_list();
        list.is_ok_and(|list| {
            attribute.path().is_ident("cfg") && list.tokens.to_string().contains("test")
        })
    };
    attributes.iter().any(says_test)
}

/// Every path in `tree`, and the name that it gets.
fn leaves(tree: &UseTree, path: &mut Vec<String>, found: &mut Vec<(Vec<String>, String)>) {
    let mut leaf = |path: &[String], last: String, name: String| {
        let mut whole = path.to_vec();
        if last != "self" {
            whole.push(last);
        }
        found.push((whole, name));
    };
    match tree {
        UseTree::Path(inner) => {
            path.push(inner.ident.to_string());
            leaves(&inner.tree, path, found);
            path.pop();
        }
        UseTree::Name(name) => leaf(path, name.ident.to_string(), name.ident.to_string()),
        UseTree::Rename(name) => leaf(path, name.ident.to_string(), name.rename.to_string()),
        UseTree::Glob(_) => leaf(path, "*".into(), "*".into()),
        UseTree::Group(group) => {
            for tree in &group.items {
                leaves(tree, path, found);
            }
        }
    }
}

/// Goes through a file and fills a [`File`].
struct Reader {
    file: File,
    inside: Module,
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = match item {
            Item::Mod(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            _ => &Vec::new(),
        };
        if !is_test(attributes) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        self.inside.push(module.ident.to_string());
        syn::visit::visit_item_mod(self, module);
        self.inside.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let mut found = Vec::new();
        leaves(&item.tree, &mut Vec::new(), &mut found);
        let hands_on = !matches!(item.vis, syn::Visibility::Inherited) && self.inside.is_empty();
        for (path, name) in found {
            match (hands_on, &*name) {
                (true, "*") => self.file.handed_on_whole.push(path),
                (true, _) => drop(self.file.handed_on.insert(name, path)),
                (false, _) => self.file.named.push((self.inside.clone(), path)),
            }
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        if ["crate", "self", "super"].contains(&&*names[0]) && names.len() > 1 {
            self.file.named.push((self.inside.clone(), names));
        }
        syn::visit::visit_path(self, path);
    }
}

/// The module of the source file `path`, given below `src`.
fn module(path: &Path) -> Module {
    let mut names: Module =
        path.with_extension("").iter().map(|name| name.to_string_lossy().into_owned()).collect();
    if matches!(names.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        names.pop();
    }
    names
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("it can be read") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
}

/// The files of the crate whose sources lie in `folder`.
fn files(folder: &Path) -> BTreeMap<Module, File> {
    let mut paths = Vec::new();
    sources(folder, &mut paths);
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("it can be read");
        let syntax = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let module = module(path.strip_prefix(folder).expect("it is below"));
        let mut reader = Reader { file: File { path, ..File::default() }, inside: Vec::new() };
        reader.visit_file(&syntax);
        (module, reader.file)
    };
    paths.into_iter().map(read).collect()
}

/// The file that defines what `path` names in the module `from`, if it is of this crate.
fn defines(files: &BTreeMap<Module, File>, from: &[String], path: &[String]) -> Option<Module> {
    let mut at = from.to_vec();
    let mut rest = path;
    match &*path[0] {
        "crate" => at.clear(),
        "self" => {}
        "super" => drop(at.pop()),
        // A module beside it, or another crate.
        name => {
            let mut beside = at.clone();
            beside.push(name.to_owned());
            files.get(&beside)?;
            at = beside;
        }
    }
    rest = &rest[1..];
    while let Some((name, after)) = rest.split_first() {
        if name == "super" {
            at.pop();
            rest = after;
            continue;
        }
        let mut below = at.clone();
        below.push(name.clone());
        if files.contains_key(&below) {
            (at, rest) = (below, after);
            continue;
        }
        let Some(file) = files.get(&at) else { break };
        if let Some(stands_for) = file.handed_on.get(name) {
            return defines(files, &at, stands_for);
        }
        let whole = &file.handed_on_whole;
        let through = whole.iter().find_map(|path| {
            let path: Vec<String> =
                path.iter().filter(|part| *part != "*").chain([name]).cloned().collect();
            defines(files, &at, &path)
        });
        return through.or(Some(at));
    }
    // An inline module has no file: its parent's has it.
    while !files.contains_key(&at) {
        at.pop()?;
    }
    Some(at)
}

/// For each file those that it uses.
fn arrows(files: &BTreeMap<Module, File>) -> BTreeMap<&Module, BTreeSet<&Module>> {
    let used = |module: &Module, file: &File| {
        let place = |inside: &Module| [module.as_slice(), inside.as_slice()].concat();
        let named = file.named.iter();
        let targets = named.filter_map(|(inside, path)| defines(files, &place(inside), path));
        let targets = targets.filter_map(|target| files.get_key_value(&target));
        targets.map(|(target, _)| target).filter(|&target| target != module).collect()
    };
    files.iter().map(|(module, file)| (module, used(module, file))).collect()
}

/// All that can be reached from `start`.
fn reached<'a>(
    arrows: &BTreeMap<&'a Module, BTreeSet<&'a Module>>,
    start: &'a Module,
) -> BTreeSet<&'a Module> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&Module> = arrows[start].iter().copied().collect();
    while let Some(next) = open.pop() {
        if found.insert(next) {
            open.extend(&arrows[next]);
        }
    }
    found
}

/// The circles of a crate, each as the files that are in it.
pub(crate) fn circles(folder: &Path) -> BTreeSet<Vec<PathBuf>> {
    let files = files(folder);
    let arrows = arrows(&files);
    let reach: BTreeMap<_, _> = files.keys().map(|file| (file, reached(&arrows, file))).collect();
    let circle = |file: &Module| -> Vec<PathBuf> {
        let both_ways = reach[file].iter().filter(|other| reach[*other].contains(file));
        both_ways.map(|other| files[*other].path.clone()).collect()
    };
    files.keys().map(circle).filter(|circle| circle.len() > 1).collect()
}

/// Circles that stay: the mutex calls the waiting of those who may give up, and this waiting
/// acquires the mutex. They are two halves of one algorithm that is too long for a file.
const KEPT: [&[&str]; 1] = [&["preload/run/src/mutex.rs", "preload/run/src/patience.rs"]];

#[test]
fn no_files_go_in_a_circle() {
    let house = super::root();
    let mut wrong = BTreeSet::new();
    for place in super::house().keys() {
        wrong.extend(circles(&house.join(place).join("src")));
    }
    for kept in KEPT {
        let kept: Vec<PathBuf> = kept.iter().map(|path| house.join(path)).collect();
        assert!(wrong.remove(&kept), "{kept:?} are no circle any more: take them off the list");
    }
    let shown = |circle: &Vec<PathBuf>| -> String {
        let short =
            |path: &PathBuf| path.strip_prefix(&house).expect("below").display().to_string();
        circle.iter().map(short).collect::<Vec<_>>().join("\n    ")
    };
    let shown: Vec<String> = wrong.iter().map(shown).collect();
    assert!(wrong.is_empty(), "{} circles:\n\n    {}", wrong.len(), shown.join("\n\n    "));
}

#[test]
fn a_circle_of_files_is_seen() {
    let folder = tempfile::tempdir().expect("a folder of the test's own");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("room");
    write("lib.rs", "mod a; mod b; mod c; pub use a::A; pub use c::C;");
    write("a.rs", "use crate::b::B; pub struct A(B);");
    write("b.rs", "pub struct B; fn through_the_root(_: crate::C) {}");
    write("c.rs", "pub struct C; #[cfg(test)] mod tests { use crate::A; }");
    assert_eq!(circles(folder.path()), BTreeSet::new());
    write("c.rs", "pub struct C(crate::A);");
    let names = ["a.rs", "b.rs", "c.rs"].map(|name| folder.path().join(name));
    assert_eq!(circles(folder.path()), BTreeSet::from([names.to_vec()]));
}
