//! Reads and updates on this machine, beside other libraries.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use crate::rounds::timed;
use arc_swap::ArcSwap;
use kilocore_locks::PerCore;
use kilocore_numa::{Nodes, Replicated, ReplicatedOn};
use kilocore_platform::{Native, NodeId};
use left_right::{Absorb, ReadHandleFactory, WriteHandle};
use node_replication::{Dispatch, Log, Replica, ReplicaToken};

use crate::replicated_data::locked::Locked;

/// What is shared: so many numbers.
type Table = Vec<u64>;

fn look(table: &Table) -> u64 {
    table[0] + table[table.len() - 1]
}

fn change(table: &mut Table) {
    table[0] += 1;
    let last = table.len() - 1;
    table[last] += 1;
}

/// A way to share a table.
pub trait Shared: Sync {
    /// Returns what a thread reads with.
    fn reader(&self) -> impl FnMut() -> u64;
    /// Adds one to two numbers.
    fn update(&self);
}

impl Shared for ReplicatedOn<Native, Table> {
    fn reader(&self) -> impl FnMut() -> u64 {
        || look(&self.read())
    }
    fn update(&self) {
        self.update(change);
    }
}

impl Shared for RwLock<Table> {
    fn reader(&self) -> impl FnMut() -> u64 {
        || look(&self.read().expect("nobody panics"))
    }
    fn update(&self) {
        change(&mut self.write().expect("nobody panics"));
    }
}

impl Shared for parking_lot::RwLock<Table> {
    fn reader(&self) -> impl FnMut() -> u64 {
        || look(&self.read())
    }
    fn update(&self) {
        change(&mut self.write());
    }
}

impl Shared for Locked<Native, PerCore<Native>, Table> {
    fn reader(&self) -> impl FnMut() -> u64 {
        || self.read(look)
    }
    fn update(&self) {
        self.update(change);
    }
}

impl Shared for ArcSwap<Table> {
    fn reader(&self) -> impl FnMut() -> u64 {
        || look(&self.load())
    }
    fn update(&self) {
        self.rcu(|table| {
            let mut table = Table::clone(table);
            change(&mut table);
            table
        });
    }
}

/// A table of `left-right`, and its only operation.
#[derive(Clone)]
struct Pair(Table);
struct Change;

impl Absorb<Change> for Pair {
    fn absorb_first(&mut self, _: &mut Change, _: &Self) {
        change(&mut self.0);
    }
    fn sync_with(&mut self, first: &Self) {
        self.0.clone_from(&first.0);
    }
}

/// Its readers each need a handle, and its writers share one.
struct LeftRight {
    writer: Mutex<WriteHandle<Pair, Change>>,
    readers: ReadHandleFactory<Pair>,
}

impl LeftRight {
    fn new(table: Table) -> Self {
        let (mut writer, reader) = left_right::new_from_empty(Pair(table));
        writer.publish();
        Self { writer: Mutex::new(writer), readers: reader.factory() }
    }
}

impl Shared for LeftRight {
    fn reader(&self) -> impl FnMut() -> u64 {
        let handle = self.readers.handle();
        move || look(&handle.enter().expect("the writer is there").0)
    }
    fn update(&self) {
        // It waits until no reader is left that came before the last call. Updates of the others wait for those
        // that came before this one.
        self.writer.lock().expect("nobody panics").append(Change).publish();
    }
}

/// A table of `node-replication`: one replica, as this machine is one node, behind a log of updates.
struct NodeReplication {
    replica: Arc<Replica<'static, Logged>>,
    writer: ReplicaToken,
}

/// Its structure: a table.
#[derive(Default)]
struct Logged(Table);

impl Dispatch for Logged {
    type ReadOperation = ();
    type WriteOperation = ();
    type Response = u64;

    fn dispatch(&self, (): ()) -> u64 {
        look(&self.0)
    }
    fn dispatch_mut(&mut self, (): ()) -> u64 {
        change(&mut self.0);
        0
    }
}

/// The log of `node-replication`, of the size that its authors recommend.
const LOG_BYTES: usize = 1 << 20;

impl NodeReplication {
    fn new(table: Table) -> Self {
        let replica = Replica::with_data(&Arc::new(Log::new(LOG_BYTES)), Logged(table));
        let writer = replica.register().expect("it takes 256 threads");
        Self { replica, writer }
    }
}

impl Shared for NodeReplication {
    fn reader(&self) -> impl FnMut() -> u64 {
        let token = self.replica.register().expect("it takes 256 threads");
        move || self.replica.execute((), token)
    }
    fn update(&self) {
        self.replica.execute_mut((), self.writer);
    }
}

/// Does something with each subject in turn.
pub trait Visitor {
    /// Is called for each subject.
    fn visit(&mut self, name: &'static str, shared: &impl Shared);
}

/// Shows all subjects, with tables of so many numbers. The first is what the others are compared with.
pub fn visit_all(numbers: usize, visitor: &mut impl Visitor) {
    let table = || vec![1; numbers];
    let two_nodes = Nodes::new([0, 1].map(NodeId));
    visitor.visit("`Replicated`", &Replicated::new(table()));
    visitor
        .visit("`Replicated`, as if each core were a node", &Replicated::on(&two_nodes, table()));
    visitor.visit("`std::sync::RwLock`", &RwLock::new(table()));
    visitor.visit("`parking_lot::RwLock`", &parking_lot::RwLock::new(table()));
    visitor.visit("lock `per-core`", &Locked::<Native, PerCore<Native>, _>::new(table()));
    visitor.visit("`arc-swap`", &ArcSwap::new(Arc::new(table())));
    visitor.visit("`left-right`", &LeftRight::new(table()));
    visitor.visit("`node-replication`", &NodeReplication::new(table()));
}

/// Returns the nanoseconds of a read, while so many threads read.
pub fn read(shared: &impl Shared, threads: u64, reads: u64) -> f64 {
    timed(threads, reads, &|_| {
        let mut read = shared.reader();
        for _ in 0..reads {
            black_box(read());
        }
    })
}

/// How long a thread that updates now and then does nothing in between.
const BETWEEN_UPDATES: Duration = Duration::from_micros(50);

/// Returns the nanoseconds of a read, while another thread updates every fifty microseconds.
pub fn read_beside_updates(shared: &impl Shared, reads: u64) -> f64 {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                shared.update();
                let start = Instant::now();
                while start.elapsed() < BETWEEN_UPDATES {
                    std::hint::spin_loop();
                }
            }
        });
        let nanos = read(shared, 1, reads);
        done.store(true, Ordering::Relaxed);
        nanos
    })
}

/// Returns the nanoseconds of an update that nobody is in the way of.
pub fn update(shared: &impl Shared, updates: u64) -> f64 {
    timed(1, updates, &|_| (0..updates).for_each(|_| shared.update()))
}

/// Returns the nanoseconds of an update, while another thread reads all the time.
pub fn update_beside_reads(shared: &impl Shared, updates: u64) -> f64 {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut read = shared.reader();
            while !done.load(Ordering::Relaxed) {
                black_box(read());
            }
        });
        let nanos = update(shared, updates);
        done.store(true, Ordering::Relaxed);
        nanos
    })
}
