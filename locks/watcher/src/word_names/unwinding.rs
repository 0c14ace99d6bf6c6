//! Call stacks from registers and a copy of the stack.

use std::ops::Range;
use std::rc::Rc;

use framehop::Unwinder as _;
use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use kilocore_symbols::{Binary, TableBytes, UnwindTables, stack_reader};

use kilocore_linux::maps::Mapping;

/// A stack is unwound up to this number of frames.
const DEEPEST: usize = 64;
/// The end of the addresses that programs use.
const HIGHEST: u64 = 1 << 47;

/// Unwinds the stacks of a process.
pub(crate) struct Unwinding {
    unwinder: UnwinderX86_64<TableBytes>,
    cache: CacheX86_64,
    /// Where code lies: a return address is there.
    code: Vec<Range<u64>>,
}

impl Unwinding {
    /// With the unwind tables of all the files that are mapped as code. `tables` gives those of a
    /// mapping, and where its file's address zero lies in memory.
    pub(crate) fn of(
        mappings: &[Mapping],
        mut tables: impl FnMut(&Mapping) -> Option<(Rc<UnwindTables>, u64)>,
    ) -> Self {
        let mut unwinder = UnwinderX86_64::new();
        let code: Vec<&Mapping> = mappings.iter().filter(|mapping| mapping.executable).collect();
        for mapping in &code {
            let Some((tables, zero)) = tables(mapping) else { continue };
            if mapping.end <= HIGHEST && tables.base < HIGHEST {
                unwinder.add_module(tables.module(mapping.start..mapping.end, zero));
            }
        }
        let code = code.iter().map(|mapping| mapping.start..mapping.end).collect();
        Self { unwinder, cache: CacheX86_64::new(), code }
    }

    /// The addresses of the calls, the innermost first: where the thread is, and then an address
    /// in the call of each caller. Stops where nothing tells how to go on.
    pub(crate) fn unwind(&mut self, (ip, sp, bp): (u64, u64, u64), stack: &[u8]) -> Vec<u64> {
        let mut read = stack_reader(stack, sp);
        let registers = UnwindRegsX86_64::new(ip, sp, bp);
        let mut frames = self.unwinder.iter_frames(ip, registers, &mut self.cache, &mut read);
        let next = || Some(frames.next().ok()??.address_for_lookup());
        let is_code = |address: &u64| self.code.iter().any(|range| range.contains(address));
        std::iter::from_fn(next).take(DEEPEST).take_while(is_code).collect()
    }
}

/// Where the file's address zero lies in memory.
pub(crate) fn zero(mapping: &Mapping, binary: &Binary) -> Option<u64> {
    binary.zero(mapping.start..mapping.end, mapping.offset)
}
