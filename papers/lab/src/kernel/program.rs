//! What each core executes: its recorded steps, with the lines and locks that are its own.

use std::collections::HashMap;

use kilocore_kernel_path::{
    Instructions, LineId, LockId, LockKind, Mode, Path, Processors, Step, Touch,
};

use crate::kernel::schemes::TreeScheme;

/// Where a simulated core is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seat {
    /// Its memory node.
    pub(crate) node: u32,
    /// Its place among the cores of the node.
    pub(crate) index: u32,
}

impl Seat {
    /// The recorded processor whose steps the core replays.
    fn stands_for(self, path: &Path) -> u32 {
        let of_a_node = path.processors_of_a_node();
        self.node % path.nodes * of_a_node + self.index % of_a_node
    }
}

/// Which of the instances of a recorded line or lock a core has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Instance {
    Machine,
    Node(u32),
    /// As many cores as a node had in the recording.
    PartOfNode(u32, u32),
    /// As many nodes and cores as there were in the recording.
    PartOfMachine(u32, u32),
}

fn instance(touched: Processors, path: &Path, seat: Seat) -> Instance {
    let of_a_node = path.processors_of_a_node();
    let group = seat.index / of_a_node;
    let nodes = (0..path.nodes)
        .filter(|node| (0..of_a_node).any(|index| touched.contains(node * of_a_node + index)));
    if path.nodes > 1 && nodes.count() == 1 {
        return if touched.count() * 2 > of_a_node {
            Instance::Node(seat.node)
        } else {
            Instance::PartOfNode(seat.node, group)
        };
    }
    if touched.count() * 2 > path.processors {
        Instance::Machine
    } else {
        Instance::PartOfMachine(seat.node / path.nodes, group)
    }
}

/// The number of a simulated line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineIndex(pub(crate) usize);

/// The number of a simulated lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LockIndex(pub(crate) usize);

/// The number of a simulated tree with its lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TreeIndex(pub(crate) usize);

/// What a core does next.
#[derive(Debug)]
pub(crate) enum Op {
    Compute(Instructions),
    Touch(LineId, LineIndex, Touch),
    Acquire(LockId, LockIndex, Mode),
    Release(LockIndex),
    Tree(Section),
}

/// What a core does under the lock of a tree.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) lock: LockId,
    pub(crate) tree: TreeIndex,
    pub(crate) put_in: u32,
    pub(crate) taken_out: u32,
    pub(crate) inside: Vec<Op>,
}

/// What a core executes.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) ops: Vec<Op>,
    /// What it does to put one mapping into a tree: computing and touching.
    pub(crate) insertion: HashMap<TreeIndex, Vec<Op>>,
}

/// Everything that cores share, as numbers that were given out.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    lines: HashMap<(LineId, Instance, Option<u32>), LineIndex>,
    locks: HashMap<(LockId, Instance), LockIndex>,
    trees: HashMap<(LockId, Instance, Option<u32>), TreeIndex>,
    /// What each simulated lock is.
    pub(crate) kinds: Vec<LockKind>,
}

impl Plan {
    pub(crate) fn lines(&self) -> usize {
        self.lines.len()
    }

    pub(crate) fn trees(&self) -> usize {
        self.trees.len()
    }

    fn line(&mut self, path: &Path, line: LineId, seat: Seat, part: Option<u32>) -> LineIndex {
        let touched = path.lines[line.0 as usize].touched_by;
        let next = LineIndex(self.lines.len());
        *self.lines.entry((line, instance(touched, path, seat), part)).or_insert(next)
    }

    fn lock(&mut self, path: &Path, lock: LockId, seat: Seat) -> LockIndex {
        let known = &path.locks[lock.0 as usize];
        let next = LockIndex(self.locks.len());
        let key = (lock, instance(known.place.touched_by, path, seat));
        let index = *self.locks.entry(key).or_insert(next);
        if index == next {
            self.kinds.push(known.kind);
        }
        index
    }

    fn tree(&mut self, path: &Path, lock: LockId, seat: Seat, part: Option<u32>) -> TreeIndex {
        let touched = path.locks[lock.0 as usize].place.touched_by;
        let next = TreeIndex(self.trees.len());
        *self.trees.entry((lock, instance(touched, path, seat), part)).or_insert(next)
    }
}

/// Makes the program of a core. `trees` says of each recorded lock whether it is a tree's.
pub(crate) fn program(
    path: &Path,
    trees: &[bool],
    scheme: TreeScheme,
    seat: Seat,
    plan: &mut Plan,
) -> Program {
    let run = &path.runs[seat.stands_for(path) as usize];
    let mut writer = Writer { path, trees, scheme, seat, plan, steps: run.iter(), part: None };
    let ops = writer.until(None);
    let mut insertion = HashMap::new();
    for op in &ops {
        if let Op::Tree(Section { tree, put_in, taken_out: 0, inside, .. }) = op
            && *put_in > 0
        {
            insertion.entry(*tree).or_insert_with(|| plain(inside));
        }
    }
    Program { ops, insertion }
}

/// What of some steps is no lock.
fn plain(ops: &[Op]) -> Vec<Op> {
    let copy = |op: &Op| match *op {
        Op::Compute(count) => Some(Op::Compute(count)),
        Op::Touch(line, index, touch) => Some(Op::Touch(line, index, touch)),
        _ => None,
    };
    ops.iter().filter_map(copy).collect()
}

/// Which locks of a path are those of trees: those under which one changes.
pub(crate) fn tree_locks(path: &Path) -> Vec<bool> {
    let mut trees = vec![false; path.locks.len()];
    for step in path.runs.iter().flatten() {
        if let Step::PutIn(lock) | Step::TakeOut(lock) = step {
            trees[lock.0 as usize] = true;
        }
    }
    trees
}

struct Writer<'a> {
    path: &'a Path,
    trees: &'a [bool],
    scheme: TreeScheme,
    seat: Seat,
    plan: &'a mut Plan,
    steps: std::slice::Iter<'a, Step>,
    /// The part of a split tree under whose lock the steps are.
    part: Option<u32>,
}

impl Writer<'_> {
    /// The steps up to the release of `end`, or all that are left.
    fn until(&mut self, end: Option<LockId>) -> Vec<Op> {
        let mut ops = Vec::new();
        while let Some(&step) = self.steps.next() {
            match step {
                Step::Compute(count) => ops.push(Op::Compute(count)),
                Step::Touch(line, touch) => {
                    let index = self.plan.line(self.path, line, self.seat, self.part);
                    ops.push(Op::Touch(line, index, touch));
                }
                Step::Acquire(lock, _) if self.is_tree(lock) => {
                    ops.push(Op::Tree(self.section(lock)));
                }
                Step::Acquire(lock, mode) => {
                    let index = self.plan.lock(self.path, lock, self.seat);
                    ops.push(Op::Acquire(lock, index, mode));
                }
                Step::Release(lock) if end == Some(lock) => break,
                Step::Release(lock) => {
                    ops.push(Op::Release(self.plan.lock(self.path, lock, self.seat)));
                }
                // Those of the section that is being written are counted before.
                Step::PutIn(_) | Step::TakeOut(_) => {}
            }
        }
        ops
    }

    fn is_tree(&self, lock: LockId) -> bool {
        self.trees[lock.0 as usize]
    }

    fn section(&mut self, lock: LockId) -> Section {
        let (mut put_in, mut taken_out) = (0, 0);
        for step in self.steps.clone() {
            match step {
                Step::PutIn(changed) if *changed == lock => put_in += 1,
                Step::TakeOut(changed) if *changed == lock => taken_out += 1,
                Step::Release(released) if *released == lock => break,
                _ => {}
            }
        }
        let part = (self.scheme == TreeScheme::Split).then_some(self.seat.node);
        let tree = self.plan.tree(self.path, lock, self.seat, part);
        let outer = std::mem::replace(&mut self.part, part);
        let inside = self.until(Some(lock));
        self.part = outer;
        Section { lock, tree, put_in, taken_out, inside }
    }
}
