//! The places at which code was seen running, before they have names.
//!
//! Places are named last, because only then it is known which event is taken and what the end of
//! the file tells about the kernel. Until then, stacks consist of places, and each place is kept
//! once.

use std::collections::HashMap;
use std::hash::Hash;

use kilocore_symbols::BuildId;

use crate::in_file::is_memory;
use crate::{Origin, Tally};

/// An index into an [`Interned`] table.
pub(super) type Index = u32;

/// A table that keeps each of its entries once.
#[derive(Debug)]
pub(super) struct Interned<T> {
    all: Vec<T>,
    indices: HashMap<T, Index>,
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Self { all: Vec::new(), indices: HashMap::new() }
    }
}

impl<T: Clone + Eq + Hash> Interned<T> {
    pub(super) fn index(&mut self, thing: &T) -> Index {
        if let Some(&index) = self.indices.get(thing) {
            return index;
        }
        let index = Index::try_from(self.all.len()).expect("a file has fewer of them");
        self.all.push(thing.clone());
        self.indices.insert(thing.clone(), index);
        index
    }

    pub(super) fn get(&self, index: Index) -> &T {
        &self.all[index as usize]
    }

    pub(super) fn all(&self) -> &[T] {
        &self.all
    }
}

/// What the kernel puts behind the path of a file that is gone.
pub(super) const GONE: &str = " (deleted)";

/// What memory of a process was mapped from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Object {
    File {
        /// The path, without perf's suffix `(deleted)`.
        path: String,
        /// The build that was mapped, if the record of the mapping says so.
        build_id: Option<BuildId>,
        /// Whether it was gone when it was mapped, so that another may be at its path.
        is_gone: bool,
    },
    /// The vDSO, code that the kernel maps into each process.
    Vdso,
    /// Memory without a file. A just-in-time compiler of this process may have written code there.
    Anonymous {
        /// The number of that process.
        process: i32,
        /// What the kernel calls such memory.
        name: String,
    },
}

impl Object {
    /// The object that the path in a mapping's record stands for.
    pub(super) fn new(path: &str, process: i32, build_id: Option<BuildId>) -> Self {
        let whole = path;
        let path = path.strip_suffix(GONE).unwrap_or(path);
        let is_gone = path.len() < whole.len();
        match path {
            "[vdso]" => Self::Vdso,
            _ if is_memory(path) => Self::Anonymous { process, name: path.to_owned() },
            _ => Self::File { path: path.to_owned(), build_id, is_gone },
        }
    }

    /// What profiles call it.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::File { path, .. } => path,
            Self::Vdso => "[vdso]",
            Self::Anonymous { name, .. } => name,
        }
    }
}

/// The address of code, and what it is an address in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum CodeLocation {
    /// At an address of the kernel.
    Kernel(u64),
    /// At an offset in an object, or at an address if that is memory without a file.
    Object(Index, u64),
    /// An address of user space at which no mapping is known.
    Nowhere,
    /// In the kernel of a guest system.
    GuestKernel,
    /// In a program of a guest system.
    GuestUser,
    /// In the hypervisor below the kernel.
    Hypervisor,
    /// The file does not say whether the kernel or a program ran.
    Unknown,
}

impl CodeLocation {
    pub(super) fn origin(self) -> Origin {
        match self {
            Self::Kernel(_) | Self::GuestKernel | Self::Hypervisor => Origin::Kernel,
            Self::Object(..) | Self::Nowhere | Self::GuestUser => Origin::User,
            Self::Unknown => Origin::Unknown,
        }
    }
}

/// A place and all that called it.
#[derive(Debug, Clone, Copy)]
struct Node {
    caller: Index,
    place: Index,
    own: Tally,
}

/// The distinct stacks of an event.
///
/// This is the same tree as [`Contexts`](crate::Contexts), but of places instead of functions.
/// Several places may lie in one function, and a file may have several events of which only one is
/// taken.
#[derive(Debug)]
pub(super) struct PlaceTree {
    nodes: Vec<Node>,
    callees: HashMap<(Index, Index), Index>,
}

impl Default for PlaceTree {
    fn default() -> Self {
        let root = Node { caller: 0, place: 0, own: Tally::default() };
        Self { nodes: vec![root], callees: HashMap::new() }
    }
}

/// More distinct stacks than any useful recording has. They take some hundred megabytes.
const MOST_STACKS: usize = 1 << 22;

impl PlaceTree {
    /// Whether there are too many stacks to go on.
    pub(super) fn is_full(&self) -> bool {
        self.nodes.len() > MOST_STACKS
    }

    /// Counts samples that fell on a stack of places, the innermost first.
    pub(super) fn sample(&mut self, stack: &[Index], tally: Tally) {
        let mut node = 0;
        for &place in stack.iter().rev() {
            let next = self.nodes.len();
            node = *self.callees.entry((node, place)).or_insert_with(|| {
                self.nodes.push(Node { caller: node, place, own: Tally::default() });
                Index::try_from(next).expect("a file has fewer stacks")
            });
        }
        self.nodes[node as usize].own.add(tally);
    }

    /// The stacks that samples fell on, each with its places, the innermost first.
    pub(super) fn stacks(&self) -> impl Iterator<Item = (Vec<Index>, Tally)> {
        let sampled = self.nodes.iter().enumerate().filter(|(_, node)| node.own.samples > 0);
        sampled.map(|(index, node)| {
            let mut places = Vec::new();
            let mut at = index;
            while at != 0 {
                let Node { caller, place, .. } = self.nodes[at];
                places.push(place);
                at = caller as usize;
            }
            (places, node.own)
        })
    }
}
