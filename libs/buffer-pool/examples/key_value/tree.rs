//! A B-tree of keys and values on a buffer pool, which survives a failure of the power at any point.
//!
//! # The idea
//! * **A node is never changed where it is.** A change writes new nodes from the leaf up to the top, into pages
//!   that no durable state uses. So at any time the last durable state is whole.
//! * **[`Tree::commit`] makes the new nodes durable, and then the root**, which is in one of two pages in turn.
//!   After a failure of the power one of them is whole, and the newer of those that are is the tree. So the nodes
//!   of a root that can be found are durable, whatever became of the root.
//! * **A root may be found that is not durable**: the program that wrote it was killed before its sync, or the
//!   sync failed, and the root is in the system's cache only, where Linux takes it for clean. A commit that fails
//!   leaves such a root, too. Before the tree is changed then, the root is written once more, and synced.
//!   Until that has succeeded nothing can be changed.
//! * Pages of replaced nodes are used again when a newer state is durable. Which pages are free is not stored:
//!   it is found by walking through the tree when that is opened.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;
use std::sync::{PoisonError, RwLock};

use kilocore_buffer_pool::{BufferPool, PageId, PoolError, Store};

use super::node::{Corrupt, LONGEST_KEY, LONGEST_VALUE, Node, PAGE};
use super::root::Root;

/// A tree with so many levels would have more nodes than there are pages. Who finds one is led in a circle, by a
/// damaged page or one that the system has lost.
const MOST_LEVELS: usize = 64;

/// Why something cannot be done.
#[derive(Debug)]
pub(crate) enum TreeError {
    /// The pool or the store says no.
    Pool(PoolError),
    /// A page is no page of a tree: the file is something else, or damaged.
    Corrupt(PageId),
    /// The key or the value is too long.
    TooLong,
    /// The pool's pages have another size.
    PageSize,
}

impl fmt::Display for TreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TreeError::Pool(error) => error.fmt(f),
            TreeError::Corrupt(page) => write!(f, "page {} is no page of a tree", page.0),
            TreeError::TooLong => {
                write!(f, "a key has at most {LONGEST_KEY} bytes and a value {LONGEST_VALUE}")
            }
            TreeError::PageSize => write!(f, "the pages of a tree have {PAGE} bytes"),
        }
    }
}

impl Error for TreeError {}

impl From<PoolError> for TreeError {
    fn from(error: PoolError) -> Self {
        TreeError::Pool(error)
    }
}

/// The tree as it is now, durable or not.
struct State {
    /// What is in the tree, under the number of the last state that was committed.
    root: Root,
    /// The last state that was committed is not known to be durable. Nothing was changed since then.
    is_in_doubt: bool,
    /// Pages that are in no state.
    free: Vec<PageId>,
    /// Pages of the durable state that are not in this one.
    replaced: Vec<PageId>,
    /// Pages of this state that are in no state that was committed.
    fresh: BTreeSet<PageId>,
}

impl State {
    /// Makes the root durable if it is not known to be. Only then pages are free that an older state uses.
    fn settle<S: Store>(&mut self, pool: &BufferPool<S>) -> Result<(), TreeError> {
        if !self.is_in_doubt {
            return Ok(());
        }
        // It is written even if it is there: only what is dirty is written by a sync, and the system may take for
        // clean what the disk does not have.
        self.root.encode(&mut pool.create(self.root.page())?);
        pool.sync()?;
        self.is_in_doubt = false;
        self.free.append(&mut self.replaced);
        Ok(())
    }
}

/// A tree. Many threads may read it at a time, and one may change it.
pub(crate) struct Tree<S: Store> {
    pool: BufferPool<S>,
    state: RwLock<State>,
}

impl<S: Store> Tree<S> {
    /// Opens the tree of a store, which may be empty. Nothing is written: that it is durable is only certain when
    /// it was changed.
    pub(crate) fn open(pool: BufferPool<S>) -> Result<Self, TreeError> {
        if pool.page_bytes() != PAGE {
            return Err(TreeError::PageSize);
        }
        let mut root = Root::EMPTY;
        for page in 0..2 {
            let bytes = pool.read(PageId(page))?;
            let found = Root::decode(bytes.first_chunk().expect("it has so many bytes"));
            root = found.filter(|found| found.generation > root.generation).unwrap_or(root);
        }
        // The first commit writes the other of the two, so this one is of a tree or was never written.
        if root == Root::EMPTY && pool.read(PageId(0))?.iter().any(|byte| *byte != 0) {
            return Err(TreeError::Corrupt(PageId(0)));
        }
        let mut used = BTreeSet::new();
        if let Some(top) = root.top {
            mark(&pool, top, 0, &mut used)?;
        }
        let free = (2..root.pages).map(PageId).filter(|page| !used.contains(page)).collect();
        let is_in_doubt = root != Root::EMPTY;
        let (replaced, fresh) = (Vec::new(), BTreeSet::new());
        let state = State { root, is_in_doubt, free, replaced, fresh };
        Ok(Self { pool, state: RwLock::new(state) })
    }

    /// Returns the value of a key.
    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, TreeError> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let Some(mut page) = state.root.top else { return Ok(None) };
        for level in 0.. {
            let mut node = node(&self.pool, page, level)?;
            if node.is_leaf {
                let found = node.place(key).ok();
                return Ok(found.map(|index| node.entries.swap_remove(index).1));
            }
            let index = node.toward(key);
            page = node.child(index).map_err(|Corrupt| TreeError::Corrupt(page))?;
        }
        unreachable!("no node has so many above it")
    }

    /// Calls `each` with all keys from `from` on, in their order, and their values.
    pub(crate) fn list(
        &self,
        from: &[u8],
        each: &mut dyn FnMut(&[u8], &[u8]),
    ) -> Result<(), TreeError> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let mut branches = BTreeSet::new();
        state.root.top.map_or(Ok(()), |top| list(&self.pool, top, 0, from, each, &mut branches))
    }

    /// Gives a key a value. It is durable after the next [`commit`](Self::commit). If this succeeds, what was
    /// found when the tree was opened, or left by a commit that failed, is durable.
    pub(crate) fn put(&self, key: &[u8], value: &[u8]) -> Result<(), TreeError> {
        if key.len() > LONGEST_KEY || value.len() > LONGEST_VALUE {
            return Err(TreeError::TooLong);
        }
        self.change(key, Some(value))
    }

    /// Removes a key, if it is there. That is durable after the next [`commit`](Self::commit).
    pub(crate) fn remove(&self, key: &[u8]) -> Result<(), TreeError> {
        self.change(key, None)
    }

    fn change(&self, key: &[u8], value: Option<&[u8]>) -> Result<(), TreeError> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.settle(&self.pool)?;
        let mut change = Change { pool: &self.pool, state: &mut state, new: vec![], old: vec![] };
        match change.top(key, value) {
            Ok(top) => {
                change.finish(top);
                Ok(())
            }
            Err(error) => {
                // The tree is what it was.
                let new = std::mem::take(&mut change.new);
                state.free.extend(new);
                Err(error)
            }
        }
    }

    /// Makes all changes durable. If this fails, they may be durable or not; none is so in part. It can be
    /// repeated, except after a sync that failed: then nothing can be changed any more, as nobody knows what the
    /// disk has, and the file has to be opened anew.
    pub(crate) fn commit(&self) -> Result<(), TreeError> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.settle(&self.pool)?;
        // The nodes first: whoever finds the root finds them.
        self.pool.sync()?;
        // From now on this state may be found, whatever fails.
        state.root.generation += 1;
        state.is_in_doubt = true;
        state.fresh.clear();
        state.settle(&self.pool)
    }

    /// Returns the pool, for its statistics.
    pub(crate) fn pool(&self) -> &BufferPool<S> {
        &self.pool
    }

    /// Gives the pool back. What was not committed is lost.
    #[cfg_attr(not(test), expect(dead_code, reason = "only tests go on with the disk"))]
    pub(crate) fn into_pool(self) -> BufferPool<S> {
        self.pool
    }
}

/// Reads a node that has so many above it.
fn node<S: Store>(pool: &BufferPool<S>, page: PageId, level: usize) -> Result<Node, TreeError> {
    if level == MOST_LEVELS {
        return Err(TreeError::Corrupt(page));
    }
    Node::decode(&pool.read(page)?).map_err(|Corrupt| TreeError::Corrupt(page))
}

/// Collects the pages of a tree.
fn mark<S: Store>(
    pool: &BufferPool<S>,
    page: PageId,
    level: usize,
    used: &mut BTreeSet<PageId>,
) -> Result<(), TreeError> {
    let node = node(pool, page, level)?;
    if !used.insert(page) {
        return Err(TreeError::Corrupt(page));
    }
    for index in 0..if node.is_leaf { 0 } else { node.entries.len() } {
        let child = node.child(index).map_err(|Corrupt| TreeError::Corrupt(page))?;
        mark(pool, child, level + 1, used)?;
    }
    Ok(())
}

/// Calls `each` with what a node leads to, if it is in none of these branches that were seen before.
fn list<S: Store>(
    pool: &BufferPool<S>,
    page: PageId,
    level: usize,
    from: &[u8],
    each: &mut dyn FnMut(&[u8], &[u8]),
    branches: &mut BTreeSet<PageId>,
) -> Result<(), TreeError> {
    let node = node(pool, page, level)?;
    if node.is_leaf {
        let wanted = node.entries.iter().filter(|(key, _)| &**key >= from);
        wanted.for_each(|(key, value)| each(key, value));
        return Ok(());
    }
    if !branches.insert(page) {
        return Err(TreeError::Corrupt(page));
    }
    for index in node.toward(from)..node.entries.len() {
        let child = node.child(index).map_err(|Corrupt| TreeError::Corrupt(page))?;
        list(pool, child, level + 1, from, each, branches)?;
    }
    Ok(())
}

/// A change of one key: new nodes instead of old ones.
struct Change<'a, S: Store> {
    pool: &'a BufferPool<S>,
    state: &'a mut State,
    new: Vec<PageId>,
    old: Vec<PageId>,
}

/// Nodes that come instead of one, and their smallest keys: none, one or two.
type Instead = Vec<(Vec<u8>, PageId)>;

impl<S: Store> Change<'_, S> {
    /// Returns the new top.
    fn top(&mut self, key: &[u8], value: Option<&[u8]>) -> Result<Option<PageId>, TreeError> {
        let mut nodes = match self.state.root.top {
            Some(top) => self.below(top, key, value)?,
            None => self.in_leaf(Node::leaf(), key, value)?,
        };
        while nodes.len() > 1 {
            nodes = self.write(Node::branch(nodes))?;
        }
        Ok(nodes.pop().map(|(_, top)| top))
    }

    fn below(
        &mut self,
        page: PageId,
        key: &[u8],
        value: Option<&[u8]>,
    ) -> Result<Instead, TreeError> {
        let mut node = node(self.pool, page, self.old.len())?;
        self.old.push(page);
        if node.is_leaf {
            return self.in_leaf(node, key, value);
        }
        let index = node.toward(key);
        let child = node.child(index).map_err(|Corrupt| TreeError::Corrupt(page))?;
        let instead = Node::branch(self.below(child, key, value)?);
        node.entries.splice(index..=index, instead.entries);
        self.write(node)
    }

    fn in_leaf(
        &mut self,
        mut node: Node,
        key: &[u8],
        value: Option<&[u8]>,
    ) -> Result<Instead, TreeError> {
        match (node.place(key), value) {
            (Ok(index), Some(value)) => node.entries[index].1 = value.to_vec(),
            (Err(index), Some(value)) => node.entries.insert(index, (key.to_vec(), value.to_vec())),
            (Ok(index), None) => drop(node.entries.remove(index)),
            (Err(_), None) => {}
        }
        self.write(node)
    }

    /// Writes a node into pages that are in no state. Of an empty one nothing is left.
    fn write(&mut self, node: Node) -> Result<Instead, TreeError> {
        if node.entries.is_empty() {
            return Ok(Vec::new());
        }
        let mut instead = Vec::new();
        for node in node.cut() {
            let page = self.state.free.pop().unwrap_or_else(|| {
                self.state.root.pages += 1;
                PageId(self.state.root.pages - 1)
            });
            self.new.push(page);
            node.encode(&mut self.pool.create(page)?);
            instead.push((node.entries[0].0.clone(), page));
        }
        Ok(instead)
    }

    /// Makes the change the tree's state.
    fn finish(self, top: Option<PageId>) {
        let Self { state, new, old, .. } = self;
        for page in old {
            // A page that was new since the last commit is in no durable state.
            let place =
                if state.fresh.remove(&page) { &mut state.free } else { &mut state.replaced };
            place.push(page);
        }
        state.fresh.extend(new);
        state.root.top = top;
    }
}
