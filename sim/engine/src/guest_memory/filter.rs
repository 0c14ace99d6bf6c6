//! The lines that a core has, by the addresses of the program: what most accesses need to know.

/// Lines of a filter: a first-level cache of 64 KiB.
const LINES: usize = 1024;
/// An entry without a line. No line has the address.
const EMPTY: u64 = u64::MAX;

/// A table of lines that a core has in its cache, and may write without telling anybody.
///
/// It may lack lines that the core has, and never has one that the core has not.
#[derive(Debug)]
pub struct Filter {
    /// The line's address over its size, and below that a bit for whether it may be written.
    entries: [u64; LINES],
    line_shift: u32,
}

impl Filter {
    pub(super) fn new(line_shift: u32) -> Self {
        Self { entries: [EMPTY; LINES], line_shift }
    }

    /// Whether the core may read at an address, or write there, at the cost of computing.
    #[inline(always)]
    #[must_use]
    pub fn allows(&self, address: u64, writes: bool) -> bool {
        let line = address >> self.line_shift;
        let entry = self.entries[line as usize % LINES];
        entry >> 1 == line && entry & 1 >= u64::from(writes)
    }

    /// A line has come. `line` is its address over its size.
    pub(crate) fn insert(&mut self, line: u64, writable: bool) {
        self.entries[line as usize % LINES] = line << 1 | u64::from(writable);
    }

    pub(super) fn remove(&mut self, line: u64) {
        let entry = &mut self.entries[line as usize % LINES];
        if *entry >> 1 == line {
            *entry = EMPTY;
        }
    }

    /// A line may be read still, and not be written.
    pub(super) fn protect(&mut self, line: u64) {
        let entry = &mut self.entries[line as usize % LINES];
        if *entry >> 1 == line {
            *entry &= !1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Filter;

    #[test]
    fn a_line_may_be_written_until_it_is_protected_and_read_until_it_is_gone() {
        let mut filter = Filter::new(6);
        let may = |filter: &Filter| [false, true].map(|writes| filter.allows(0x1040, writes));
        assert_eq!(may(&filter), [false, false]);
        filter.insert(0x41, true);
        assert_eq!(may(&filter), [true, true]);
        assert!(!filter.allows(0x1000, false) && filter.allows(0x107f, true));
        filter.protect(0x41);
        assert_eq!(may(&filter), [true, false]);
        // Another line of the same place concerns nobody.
        filter.remove(0x41 + 1024);
        assert_eq!(may(&filter), [true, false]);
        filter.remove(0x41);
        assert_eq!(may(&filter), [false, false]);
    }

    #[test]
    fn the_last_line_of_all_is_no_empty_entry() {
        let filter = Filter::new(6);
        assert!(!filter.allows(u64::MAX, false));
    }
}
