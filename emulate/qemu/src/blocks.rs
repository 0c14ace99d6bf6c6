//! The blocks that QEMU has translated: how often they were executed, and what their instructions waited for.

use std::sync::{Mutex, PoisonError};

use kilocore_emulation_orders::CodeTime;
use kilocore_platform::Cycles;

use crate::site::Site;
use crate::{clock, machine};

/// A block of instructions. There is one for as long as QEMU may execute it, which is for ever.
#[derive(Debug)]
pub(crate) struct Block {
    address: u64,
    /// What it takes each time, in parts of a cycle.
    takes: u64,
    sites: &'static [Site],
    /// How often it was executed. Translated code adds to it.
    executed: u64,
}

/// A block that is never moved or freed.
#[derive(Debug, Clone, Copy)]
struct Kept(*mut Block);

// SAFETY: only the thread that runs reads what translated code adds to; all else never changes.
unsafe impl Send for Kept {}

static ALL: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

/// The most code that is reported, by the time that it took.
const MOST: usize = 4_000;

/// QEMU has translated a block. Returns where to add 1 each time that it is executed.
pub(crate) fn translated(address: u64, takes: u64, sites: &'static [Site]) -> *mut u64 {
    let block = Box::into_raw(Box::new(Block { address, takes, sites, executed: 0 }));
    ALL.lock().unwrap_or_else(PoisonError::into_inner).push(Kept(block));
    // SAFETY: it was made here, and is never freed.
    unsafe { &raw mut (*block).executed }
}

impl Kept {
    /// The block as it is now.
    fn block(self) -> (&'static Block, u64) {
        // SAFETY: it is never freed. Translated code adds to this number only while its thread runs, which is
        // the caller's.
        unsafe { (&*self.0, (&raw const (*self.0).executed).read_volatile()) }
    }
}

fn all() -> Vec<Kept> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// How many instructions were executed.
pub(crate) fn instructions() -> u64 {
    let of = |kept: Kept| {
        let (block, executed) = kept.block();
        executed.wrapping_mul(block.sites.len() as u64)
    };
    all().into_iter().map(of).fold(0, u64::wrapping_add)
}

/// The code that took most time, the most first.
pub(crate) fn slowest() -> Vec<CodeTime> {
    let of = |kept: Kept| {
        let (block, executed) = kept.block();
        let waited = block.sites.iter().map(Site::waited).fold(0, u64::saturating_add);
        CodeTime {
            address: block.address,
            computed_ns: machine::ns(clock::cycles(executed.wrapping_mul(block.takes))),
            waited_ns: machine::ns(Cycles(waited)),
        }
    };
    let mut code: Vec<CodeTime> = all().into_iter().map(of).collect();
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
