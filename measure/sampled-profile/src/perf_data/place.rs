//! Where code lies that was seen running, before it has a name.
//!
//! Names come last, when it is known which event is taken and what else the file has to say of its
//! kernel. Until then stacks are made of places, each of them kept once.

use std::collections::HashMap;
use std::hash::Hash;

use kilocore_symbols::BuildId;

use crate::{Origin, Tally};

/// Which thing of a kind; an index into its [`Interned`].
pub(super) type Index = u32;

/// Things, each kept once.
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

/// What memory of a process was mapped from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Object {
    /// A file.
    File {
        /// Its path, without the remark that it is deleted.
        path: String,
        /// The build that was mapped, if the record of the mapping says so.
        build_id: Option<BuildId>,
    },
    /// The code that the kernel lends to processes.
    Vdso,
    /// No file: a just-in-time compiler of this process may have written code there.
    Anonymous {
        /// The process.
        process: i32,
        /// What the kernel calls such memory.
        name: String,
    },
}

impl Object {
    /// From the path in the record of a mapping.
    pub(super) fn new(path: &str, process: i32, build_id: Option<BuildId>) -> Self {
        let path = path.strip_suffix(" (deleted)").unwrap_or(path);
        let is_memory = path.is_empty()
            || ["//anon", "[", "/memfd:", "/dev/zero", "/SYSV", "/anon_hugepage", "anon_inode:"]
                .iter()
                .any(|start| path.starts_with(start));
        match path {
            "[vdso]" => Self::Vdso,
            _ if is_memory => Self::Anonymous { process, name: path.to_owned() },
            _ => Self::File { path: path.to_owned(), build_id },
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

/// Where code lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// At an address of the kernel.
    Kernel(u64),
    /// At an offset in an object, or at an address if that is memory without a file.
    Object(Index, u64),
    /// At some address of user space where nothing was known to be.
    Nowhere,
    /// In another system's kernel.
    GuestKernel,
    /// In another system's program.
    GuestUser,
    /// In what runs below the kernel.
    Hypervisor,
    /// The file does not say who ran.
    Unknown,
}

impl Place {
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
/// It is what [`Contexts`](crate::Contexts) are, but of places: many of them are in one function,
/// and a file may have several events, of which one will be taken.
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

/// More distinct stacks than any useful recording has: some hundred megabytes.
const MOST_STACKS: usize = 1 << 22;

impl PlaceTree {
    /// Whether there are too many stacks to go on.
    pub(super) fn is_full(&self) -> bool {
        self.nodes.len() > MOST_STACKS
    }

    /// Counts a sample that fell on a stack of places, the innermost first.
    pub(super) fn sample(&mut self, stack: &[Index], weight: u64) {
        let mut node = 0;
        for &place in stack.iter().rev() {
            let next = self.nodes.len();
            node = *self.callees.entry((node, place)).or_insert_with(|| {
                self.nodes.push(Node { caller: node, place, own: Tally::default() });
                Index::try_from(next).expect("a file has fewer stacks")
            });
        }
        self.nodes[node as usize].own.add(Tally::of(1, weight));
    }

    /// Those that samples fell on, with the places of each, the innermost first.
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
