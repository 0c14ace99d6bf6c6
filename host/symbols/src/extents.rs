//! Where the functions of a file lie, whether they have names or not.
//!
//! A stripped program has no symbols, but it keeps the unwind tables by which exceptions and
//! debuggers find a function's caller. These tables state the first and last address of each
//! function. So samples can still be told apart by function, and a function is named by the address
//! at which it begins.

use addr2line::gimli::{
    BaseAddresses, CieOrFde, EhFrame, EndianSlice, RunTimeEndian, UnwindSection,
};

use crate::UnwindSections;

/// The greatest number of functions. No program has more, so a file that says so is not read
/// further.
const MOST: usize = 1 << 22;

/// The extents of functions, in ascending order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Extents(Vec<(u64, u64)>);

impl Extents {
    /// Returns the extents in an executable file. There are none if it has no unwind tables.
    pub(crate) fn of(sections: &UnwindSections, is_little_endian: bool, address_size: u8) -> Self {
        let Some(section) = &sections.eh_frame else { return Self::default() };
        let endian = match is_little_endian {
            true => RunTimeEndian::Little,
            false => RunTimeEndian::Big,
        };
        let mut frames = EhFrame::from(EndianSlice::new(&section.bytes, endian));
        frames.set_address_size(address_size);
        let mut bases = BaseAddresses::default().set_eh_frame(section.addresses.start);
        if let Some(text) = &sections.text {
            bases = bases.set_text(text.start);
        }
        if let Some(got) = &sections.got {
            bases = bases.set_got(got.start);
        }
        let mut all = Vec::new();
        let mut entries = frames.entries(&bases);
        while let (Ok(Some(entry)), true) = (entries.next(), all.len() < MOST) {
            let CieOrFde::Fde(partial) = entry else { continue };
            let Ok(function) = partial.parse(EhFrame::cie_from_offset) else { continue };
            let (start, end) = (function.initial_address(), function.end_address());
            if start < end {
                all.push((start, end));
            }
        }
        all.sort_unstable();
        Self(all)
    }

    /// Returns the address at which the function begins that contains an address.
    pub(crate) fn start(&self, address: u64) -> Option<u64> {
        let next = self.0.partition_point(|&(start, _)| start <= address);
        let &(start, end) = self.0[..next].last()?;
        (address < end).then_some(start)
    }
}
