//! The calling contexts of both sides in one tree.
//!
//! Two functions are the same if their names and the names of their files are equal. If one of the
//! profiles names no files, as folded stacks do not, names alone decide.

use std::collections::HashMap;

use kilocore_sampled_profile::{Function, Origin, SampledProfile, Tally};

use crate::Amounts;
use crate::run::Conversion;

/// Which side of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The runs on few cores, with which the others are compared.
    Base,
    /// The runs on many cores.
    Scaled,
}

/// Which function of a comparison; an index into [`Tree::functions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionIndex(pub(crate) u32);

impl FunctionIndex {
    /// The index, counted from 0.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Which node of a comparison; an index into [`Tree::nodes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeIndex(pub(crate) u32);

impl NodeIndex {
    /// The node of everything.
    pub const ROOT: Self = Self(0);

    /// The index. A caller's is below its callees'.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A function and its callers, and what fell on it on both sides.
#[derive(Debug, Clone)]
pub struct Node {
    /// Its caller; the root is its own.
    pub caller: NodeIndex,
    /// The function; none for the root.
    pub function: Option<FunctionIndex>,
    /// What fell on the function itself in this context.
    pub exclusive: Amounts,
    /// What fell on it or on anything it called.
    pub inclusive: Amounts,
    /// What it called, by name.
    pub callees: Vec<NodeIndex>,
}

/// The contexts of both sides.
#[derive(Debug, Clone)]
pub struct Tree {
    functions: Vec<Function>,
    nodes: Vec<Node>,
}

impl Tree {
    /// A function.
    ///
    /// # Panics
    /// If the index is of another tree that has more.
    #[must_use]
    pub fn function(&self, index: FunctionIndex) -> &Function {
        &self.functions[index.index()]
    }

    /// All functions that either side has, in the order in which they were first seen.
    #[must_use]
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// All nodes, each after its caller, the root first.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// A node.
    ///
    /// # Panics
    /// If the index is of another tree that has more.
    #[must_use]
    pub fn node(&self, index: NodeIndex) -> &Node {
        &self.nodes[index.index()]
    }

    /// All nodes with their indices, each after its caller, without the root.
    pub fn contexts(&self) -> impl DoubleEndedIterator<Item = (NodeIndex, FunctionIndex, &Node)> {
        self.nodes.iter().enumerate().filter_map(|(index, node)| {
            node.function.map(|function| (NodeIndex(index as u32), function, node))
        })
    }

    /// The functions from a node outwards, the innermost first.
    pub fn stack(&self, from: NodeIndex) -> impl Iterator<Item = FunctionIndex> {
        let mut at = from;
        std::iter::from_fn(move || {
            let node = self.node(at);
            at = node.caller;
            node.function
        })
    }
}

/// What makes a function the same on both sides.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Identity {
    name: String,
    object: String,
}

/// A name without the version of its symbol, which not every format has: `memcpy@@GLIBC_2.14`.
fn unversioned(name: &str) -> &str {
    let version = |at: usize| {
        let version = name[at..].trim_start_matches('@');
        version.split_once('_').is_some_and(|(library, _)| {
            !library.is_empty() && library.bytes().all(|byte| byte.is_ascii_uppercase())
        })
    };
    match name.find('@') {
        Some(at) if at > 0 && version(at) => &name[..at],
        _ => name,
    }
}

/// What a sample without a stack fell on.
fn nowhere() -> Function {
    let name = Function::UNKNOWN.to_owned();
    Function { name, object: String::new(), origin: Origin::Unknown }
}

/// How functions of several profiles are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Identification {
    /// By their names and their files.
    File,
    /// By their names, and by whether they are the kernel's.
    Kernel,
    /// By their names alone.
    Name,
}

impl Identification {
    /// What all of these profiles have.
    pub(crate) fn of<'a>(profiles: impl Iterator<Item = &'a SampledProfile> + Clone) -> Self {
        let has_files = |profile: &SampledProfile| {
            profile.functions.iter().any(|(_, function)| !function.object.is_empty())
        };
        let marks_kernel = |profile: &SampledProfile| {
            profile.functions.iter().any(|(_, function)| function.origin == Origin::Kernel)
        };
        if profiles.clone().all(has_files) {
            Self::File
        } else if profiles.clone().all(marks_kernel) {
            Self::Kernel
        } else {
            Self::Name
        }
    }
}

/// The kernel's own code, by whatever name a format calls it.
const KERNEL: &str = "[kernel]";

fn identity(function: &Function, by: Identification) -> Identity {
    let is_kernel = function.origin == Origin::Kernel;
    let object = match by {
        Identification::Name => String::new(),
        Identification::Kernel if is_kernel => KERNEL.to_owned(),
        Identification::Kernel => String::new(),
        Identification::File if is_kernel && !is_module(function.object_name()) => {
            KERNEL.to_owned()
        }
        Identification::File => function.object_name().to_owned(),
    };
    Identity { name: function.name.clone(), object }
}

/// Whether a kernel file is a module's, by the names that the formats have.
fn is_module(object: &str) -> bool {
    let itself = ["", "[kernel", "[guest.kernel", "vmlinux", "vmlinuz", "[k]"];
    !itself
        .iter()
        .any(|start| object.starts_with(start) && (!start.is_empty() || object.is_empty()))
}

/// Puts profiles together, each converted to the unit of the comparison.
pub(crate) struct Builder {
    tree: Tree,
    functions: HashMap<Identity, FunctionIndex>,
    callees: HashMap<(NodeIndex, FunctionIndex), NodeIndex>,
    by: Identification,
}

impl Builder {
    pub(crate) fn new(by: Identification) -> Self {
        let root = Node {
            caller: NodeIndex::ROOT,
            function: None,
            exclusive: Amounts::default(),
            inclusive: Amounts::default(),
            callees: Vec::new(),
        };
        Self {
            tree: Tree { functions: Vec::new(), nodes: vec![root] },
            functions: HashMap::new(),
            callees: HashMap::new(),
            by,
        }
    }

    /// Adds a run. Gives what fell on each function itself in it, in the order of the functions.
    pub(crate) fn add(
        &mut self,
        profile: &SampledProfile,
        side: Side,
        conversion: Conversion,
    ) -> Vec<Tally> {
        let functions: Vec<FunctionIndex> =
            profile.functions.iter().map(|(_, function)| self.function(function)).collect();
        let mut nodes = vec![NodeIndex::ROOT; profile.contexts.len()];
        let mut by_function = vec![Tally::default(); self.tree.functions.len()];
        for (id, context) in profile.contexts.iter() {
            let own = conversion.apply(context.own);
            let mut node = NodeIndex::ROOT;
            if let Some(function) = context.function {
                let function = functions[function.index()];
                node = self.callee(nodes[context.caller.index()], function);
                nodes[id.index()] = node;
                by_function[function.index()].add(own);
            } else if own != Tally::default() {
                // Samples without a stack are samples of something.
                let function = self.function(&nowhere());
                by_function.resize(self.tree.functions.len(), Tally::default());
                node = self.callee(NodeIndex::ROOT, function);
                by_function[function.index()].add(own);
            }
            let amounts = &mut self.tree.nodes[node.index()].exclusive;
            match side {
                Side::Base => amounts.base.add(own),
                Side::Scaled => amounts.scaled.add(own),
            }
        }
        by_function
    }

    fn function(&mut self, function: &Function) -> FunctionIndex {
        let function =
            &Function { name: unversioned(&function.name).to_owned(), ..function.clone() };
        let next = FunctionIndex(self.tree.functions.len() as u32);
        let index = *self.functions.entry(identity(function, self.by)).or_insert(next);
        if index == next {
            self.tree.functions.push(function.clone());
        }
        // Whichever profile knows more of it says where it is.
        let known = &mut self.tree.functions[index.index()];
        if known.object.is_empty() {
            known.object.clone_from(&function.object);
        }
        if known.origin == Origin::Unknown {
            known.origin = function.origin;
        }
        index
    }

    fn callee(&mut self, caller: NodeIndex, function: FunctionIndex) -> NodeIndex {
        let nodes = &mut self.tree.nodes;
        *self.callees.entry((caller, function)).or_insert_with(|| {
            let index = NodeIndex(nodes.len() as u32);
            nodes.push(Node {
                caller,
                function: Some(function),
                exclusive: Amounts::default(),
                inclusive: Amounts::default(),
                callees: Vec::new(),
            });
            nodes[caller.index()].callees.push(index);
            index
        })
    }

    /// The tree, with its sums.
    pub(crate) fn finish(self) -> Tree {
        let mut tree = self.tree;
        for index in (0..tree.nodes.len()).rev() {
            let node = &mut tree.nodes[index];
            node.inclusive.add(node.exclusive);
            let (caller, sum) = (node.caller, node.inclusive);
            if index != NodeIndex::ROOT.index() {
                tree.nodes[caller.index()].inclusive.add(sum);
            }
        }
        let names: Vec<Option<FunctionIndex>> =
            tree.nodes.iter().map(|node| node.function).collect();
        let key = |index: &NodeIndex| names[index.index()].map(|f| &tree.functions[f.index()]);
        for node in &mut tree.nodes {
            node.callees.sort_by(|a, b| key(a).cmp(&key(b)));
        }
        tree
    }
}

#[cfg(test)]
mod tests {
    use super::unversioned;

    #[test]
    fn versions_of_symbols_are_no_part_of_names() {
        assert_eq!(unversioned("memcpy@@GLIBC_2.14"), "memcpy");
        assert_eq!(unversioned("inflate@ZLIB_1.2"), "inflate");
        assert_eq!(unversioned("memcpy@plt"), "memcpy@plt");
        assert_eq!(unversioned("@plt"), "@plt");
        assert_eq!(unversioned("user@host_name"), "user@host_name");
    }
}
