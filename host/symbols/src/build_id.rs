//! The build id, which tells one build of a file from another.

use std::fmt;

/// The identifier that a linker gives to what it links.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BuildId(Vec<u8>);

impl BuildId {
    /// The greatest length in bytes. No linker writes a longer one.
    const MAX: usize = 64;

    /// Returns the build id of these bytes, or `None` if there are none, only zeros, or too many.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let is_one = bytes.len() <= Self::MAX && bytes.iter().any(|byte| *byte != 0);
        is_one.then(|| Self(bytes.to_vec()))
    }

    /// Returns the build id in ELF notes of this host, such as those in `/sys/kernel/notes`.
    #[must_use]
    pub fn of_notes(mut notes: &[u8]) -> Option<Self> {
        const GNU_BUILD_ID: u32 = 3;
        let word = |bytes: &[u8], at: usize| {
            let word = bytes.get(at..at + 4)?;
            Some(u32::from_ne_bytes(word.try_into().ok()?))
        };
        loop {
            let padded = |size: u32| (size as usize).checked_next_multiple_of(4);
            let (name_size, size) = (word(notes, 0)?, word(notes, 4)?);
            let name_end = padded(name_size)?.checked_add(12)?;
            let end = name_end.checked_add(padded(size)?)?;
            let name = notes.get(12..12 + name_size as usize)?;
            let description = notes.get(name_end..name_end.checked_add(size as usize)?)?;
            if word(notes, 8)? == GNU_BUILD_ID && name == b"GNU\0" {
                return Self::new(description);
            }
            notes = notes.get(end..)?;
        }
    }

    /// Returns the build id of the running kernel, if the kernel tells it.
    #[must_use]
    pub fn of_this_kernel() -> Option<Self> {
        Self::of_notes(&std::fs::read("/sys/kernel/notes").ok()?)
    }

    /// Returns the bytes of the build id: 20 with most linkers.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn note(name: &[u8], kind: u32, description: &[u8]) -> Vec<u8> {
        let mut note = Vec::new();
        for word in [name.len() as u32, description.len() as u32, kind] {
            note.extend(word.to_ne_bytes());
        }
        for part in [name, description] {
            note.extend(part);
            note.resize(note.len().next_multiple_of(4), 0);
        }
        note
    }

    #[test]
    fn it_is_found_among_other_notes() {
        let notes = [note(b"Xen\0", 6, b"linux"), note(b"GNU\0", 3, &[0xab, 1, 2])].concat();
        assert_eq!(BuildId::of_notes(&notes).expect("it is there").to_string(), "ab0102");
        assert_eq!(BuildId::of_notes(&note(b"Xen\0", 3, b"linux")), None);
        assert_eq!(BuildId::new(&[0; 20]), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_notes_or_not(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = BuildId::of_notes(&bytes);
        }
    }
}
