//! The blocks that QEMU has translated: how often they were executed, and what their instructions waited for.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use kilocore_emulation_orders::CodeTime;
use kilocore_platform::Cycles;

use crate::site::Site;
use crate::{clock, machine};

/// A block of instructions, which is never freed: QEMU does not say when it has thrown one away.
#[derive(Debug)]
pub(crate) struct Block {
    address: u64,
    /// What it takes each time, in parts of a cycle.
    takes: u64,
    sites: &'static [Site],
    /// How often it was executed. Translated code adds to it, which is no atomic operation: only one thread runs at a
    /// time.
    executed: AtomicU64,
}

static ALL: Mutex<Vec<&Block>> = Mutex::new(Vec::new());

/// The most code that is reported, by the time that it took.
const MOST: usize = 4_000;

/// QEMU has translated a block.
pub(crate) fn translated(address: u64, takes: u64, sites: &'static [Site]) -> &'static Block {
    let block: &Block =
        Box::leak(Box::new(Block { address, takes, sites, executed: AtomicU64::new(0) }));
    all().push(block);
    block
}

impl Block {
    /// Where its first instruction is.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// The places of its sites.
    pub(crate) fn places(&self) -> Range<usize> {
        let Range { start, end } = self.sites.as_ptr_range();
        start.addr()..end.addr()
    }

    /// Where to add 1 each time that it is executed.
    pub(crate) fn executed(&self) -> *mut u64 {
        self.executed.as_ptr()
    }

    /// It is executed, and translated code does not count that by itself.
    pub(crate) fn begins(&self) {
        // Only one thread runs at a time.
        self.executed.store(self.executed.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        clock::pass(self.takes);
    }

    /// This for each time that it was executed.
    fn times(&self, each: u64) -> u64 {
        self.executed.load(Ordering::Relaxed).wrapping_mul(each)
    }
}

fn all() -> MutexGuard<'static, Vec<&'static Block>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// No block has been executed yet, and nothing has waited. The thread that runs calls this.
pub(crate) fn forget() {
    for block in all().iter() {
        block.executed.store(0, Ordering::Relaxed);
        block.sites.iter().for_each(Site::forget);
    }
}

/// How many instructions were executed.
pub(crate) fn instructions() -> u64 {
    let of = |block: &&Block| block.times(block.sites.len() as u64);
    all().iter().map(of).fold(0, u64::wrapping_add)
}

/// How often blocks were executed that begin at these addresses.
pub(crate) fn executed_at(addresses: &BTreeSet<u64>) -> u64 {
    let all = all();
    let there = all.iter().filter(|block| addresses.contains(&block.address));
    there.map(|block| block.times(1)).fold(0, u64::wrapping_add)
}

/// The code that took most time, the most first.
pub(crate) fn slowest() -> Vec<CodeTime> {
    let of = |block: &&Block| {
        let waited = block.sites.iter().map(Site::waited).fold(0, u64::saturating_add);
        CodeTime {
            address: block.address,
            computed_ns: machine::ns(clock::cycles(block.times(block.takes))),
            waited_ns: machine::ns(Cycles(waited)),
        }
    };
    let mut code: Vec<CodeTime> = all().iter().map(of).collect();
    // A block may have been translated more than once.
    code.sort_by_key(|code| code.address);
    code.dedup_by(|later, first| {
        let same = later.address == first.address;
        if same {
            first.computed_ns += later.computed_ns;
            first.waited_ns += later.waited_ns;
        }
        same
    });
    let time = |code: &CodeTime| code.computed_ns + code.waited_ns;
    code.retain(|code| time(code) > 0.0);
    code.sort_by(|a, b| time(b).total_cmp(&time(a)).then(a.address.cmp(&b.address)));
    code.truncate(MOST);
    code
}
