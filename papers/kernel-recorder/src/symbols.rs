//! Where the kernel's functions and variables are.

/// A name: its place among all symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Symbol(pub(crate) u32);

impl Symbol {
    /// Code of programs, which the kernel has no names for.
    pub(crate) const PROGRAM: Self = Self(u32::MAX);
}

/// Where symbols begin, in ascending order.
#[derive(Debug)]
pub(crate) struct Symbols {
    all: Vec<(u64, Box<str>)>,
}

/// The kernel's code and variables begin here, on x86-64.
const KERNEL: u64 = 0xffff_ffff_8000_0000;

impl Symbols {
    /// Reads a `System.map`. None if it is something else.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let mut all = Vec::new();
        for line in text.lines() {
            let mut words = line.split(' ');
            let address = u64::from_str_radix(words.next()?, 16).ok()?;
            let (_, name) = (words.next()?, words.next()?);
            // Variables that each processor has are numbered from 0 on.
            if address >= KERNEL {
                all.push((address, name.into()));
            }
        }
        // Of several names for an address, the last one: the others are aliases and section starts.
        all.sort_by_key(|symbol| symbol.0);
        all.reverse();
        all.dedup_by_key(|symbol| symbol.0);
        all.reverse();
        (!all.is_empty()).then_some(Self { all })
    }

    /// What is at an address, and whether it begins there.
    pub(crate) fn at(&self, address: u64) -> (Symbol, bool) {
        let next = self.all.partition_point(|symbol| symbol.0 <= address);
        match next.checked_sub(1) {
            Some(index) if address >= KERNEL => {
                (Symbol(index as u32), self.all[index].0 == address)
            }
            _ => (Symbol::PROGRAM, false),
        }
    }

    pub(crate) fn name(&self, symbol: Symbol) -> &str {
        self.all.get(symbol.0 as usize).map_or("a program", |symbol| &symbol.1)
    }
}
