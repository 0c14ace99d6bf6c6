//! Call stacks from registers and a copy of the stack.

use std::collections::BTreeMap;
use std::fs;
use std::ops::{Deref, Range};
use std::rc::Rc;

use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{ExplicitModuleSectionInfo, Module, Unwinder as _};
use kilocore_symbols::{Binary, UnwindSections};

use crate::maps::Mapping;

/// The deepest stack.
const DEEPEST: usize = 64;
/// The end of the addresses that programs use.
const HIGHEST: u64 = 1 << 47;

/// Bytes that several modules share.
#[derive(Clone, Default)]
struct Shared(Rc<[u8]>);

impl Deref for Shared {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// Unwinds the stacks of a process.
pub(crate) struct Unwinding {
    unwinder: UnwinderX86_64<Shared>,
    cache: CacheX86_64,
    /// Where code lies: a return address is there.
    code: Vec<Range<u64>>,
}

impl Unwinding {
    /// Reads the unwind tables of all the files that are mapped as code. `open` gives a file by its
    /// path.
    pub(crate) fn of(
        mappings: &[Mapping],
        root: &str,
        mut base: impl FnMut(&Mapping) -> Option<u64>,
    ) -> Self {
        let mut unwinder = UnwinderX86_64::new();
        let mut read: BTreeMap<String, Option<Rc<UnwindSections>>> = BTreeMap::new();
        let code: Vec<&Mapping> = mappings.iter().filter(|mapping| mapping.executable).collect();
        for mapping in &code {
            let Some(path) = mapping.file() else { continue };
            let sections = read.entry(path.to_owned()).or_insert_with(|| {
                let bytes = fs::read(format!("{root}{path}")).ok()?;
                UnwindSections::parse(&bytes).map(Rc::new)
            });
            let (Some(sections), Some(zero)) = (sections.as_ref(), base(mapping)) else { continue };
            if mapping.end <= HIGHEST && sections.base < HIGHEST {
                unwinder.add_module(module(sections, mapping.start..mapping.end, zero));
            }
        }
        let code = code.iter().map(|mapping| mapping.start..mapping.end).collect();
        Self { unwinder, cache: CacheX86_64::new(), code }
    }

    /// The addresses of the calls, the innermost first: where the thread is, and then an address
    /// in the call of each caller. Stops where nothing tells how to go on.
    pub(crate) fn unwind(&mut self, (ip, sp, bp): (u64, u64, u64), stack: &[u8]) -> Vec<u64> {
        let mut read = |address: u64| {
            let at = address.checked_sub(sp).and_then(|at| usize::try_from(at).ok()).ok_or(())?;
            let bytes = stack.get(at..at.checked_add(8).ok_or(())?).ok_or(())?;
            Ok(u64::from_le_bytes(bytes.try_into().map_err(|_| ())?))
        };
        let registers = UnwindRegsX86_64::new(ip, sp, bp);
        let mut frames = self.unwinder.iter_frames(ip, registers, &mut self.cache, &mut read);
        let next = || Some(frames.next().ok()??.address_for_lookup());
        let is_code = |address: &u64| self.code.iter().any(|range| range.contains(address));
        std::iter::from_fn(next).take(DEEPEST).take_while(is_code).collect()
    }
}

fn module(sections: &UnwindSections, range: Range<u64>, zero: u64) -> Module<Shared> {
    let bytes = |section: &Option<kilocore_symbols::Section>| {
        section.as_ref().map(|section| Shared(section.bytes.as_slice().into()))
    };
    let addresses = |section: &Option<kilocore_symbols::Section>| {
        section.as_ref().map(|section| section.addresses.clone())
    };
    let info = ExplicitModuleSectionInfo {
        base_svma: sections.base,
        text_svma: sections.text.clone(),
        got_svma: sections.got.clone(),
        eh_frame_svma: addresses(&sections.eh_frame),
        eh_frame: bytes(&sections.eh_frame),
        eh_frame_hdr_svma: addresses(&sections.eh_frame_hdr),
        eh_frame_hdr: bytes(&sections.eh_frame_hdr),
        ..ExplicitModuleSectionInfo::default()
    };
    Module::new(String::new(), range, zero.wrapping_add(sections.base), info)
}

/// Where the file's address zero lies in memory.
pub(crate) fn zero(mapping: &Mapping, binary: &Binary) -> Option<u64> {
    Some(mapping.start.wrapping_sub(binary.address(mapping.offset)?))
}
