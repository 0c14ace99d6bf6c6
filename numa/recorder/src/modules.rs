//! The files that a program's code came from.

use kilocore_references::{Backing, Mapping};

/// The files that were mapped, and where each begins.
#[derive(Debug, Clone, Default)]
pub struct Modules {
    /// The beginning and the end as addresses, and the file, in the order in which they were mapped.
    mapped: Vec<(u64, u64, Box<str>)>,
}

impl Modules {
    /// Adds memory that was mapped.
    pub(crate) fn add(&mut self, mapping: &Mapping) {
        let Backing::File(name) = &mapping.backing else { return };
        let first = mapping.region.first;
        let end = first.0.saturating_add(mapping.region.pages) << 12;
        self.mapped.push((first.address(), end, name.clone()));
    }

    /// The file that an address is in, and how far behind the file's lowest address. A loader maps a library
    /// as a whole first, and then its parts.
    #[must_use]
    pub fn find(&self, address: u64) -> Option<(&str, u64)> {
        let found = self.mapped.iter().rfind(|(first, end, _)| (*first..*end).contains(&address));
        let (_, _, name) = found?;
        let parts = self.mapped.iter().filter(|(_, _, other)| other == name);
        let base = parts.map(|(first, ..)| *first).min()?;
        Some((name, address - base))
    }
}
