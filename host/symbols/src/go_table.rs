//! The table of functions that Go's linker writes into every program, stripped or not.
//!
//! The runtime prints stacks with it, so that no option leaves it out. It begins with a header of
//! words, whose number has grown with the versions. Then there is a sorted list of functions' first
//! addresses, each with the place of a record, and the record has the place of the name.

use object::{Object, ObjectSection};

/// More functions than any program has.
const MOST: u64 = 1 << 22;

/// A function's first address, the address behind it, and its name.
pub(crate) type GoFunction<'a> = (u64, u64, &'a str);

/// The parts of a table of any version.
#[derive(Debug, Clone, Copy)]
struct GoTable<'data> {
    bytes: &'data [u8],
    is_little_endian: bool,
    /// The size of an address in bytes.
    word: u64,
    count: u64,
    /// Where the list begins.
    list: u64,
    /// Where the names begin.
    names: u64,
    /// What the places of records are counted from.
    records: u64,
    /// The list has distances from here, in 4 bytes each, and no addresses.
    text: Option<u64>,
    /// The table does not say so itself.
    is_text_assumed: bool,
}

impl<'data> GoTable<'data> {
    fn parse(bytes: &'data [u8], is_little_endian: bool, text: u64) -> Option<Self> {
        const GO_1_2: u32 = 0xffff_fffb;
        const GO_1_16: u32 = 0xffff_fffa;
        const GO_1_18: u32 = 0xffff_fff0;
        const GO_1_20: u32 = 0xffff_fff1;
        let word = u64::from(*bytes.get(7)?);
        if word != 4 && word != 8 {
            return None;
        }
        let empty = Self {
            bytes,
            is_little_endian,
            word,
            count: 0,
            list: 0,
            names: 0,
            records: 0,
            text: None,
            is_text_assumed: false,
        };
        let header = |index: u64| empty.number(8 + index * word, word);
        let table = match u32::try_from(empty.number(0, 4)?).ok()? {
            GO_1_2 => Self { count: header(0)?, list: 8 + word, ..empty },
            GO_1_16 => {
                let list = header(6)?;
                Self { count: header(0)?, names: header(2)?, list, records: list, ..empty }
            }
            GO_1_18 | GO_1_20 => {
                let list = header(7)?;
                // Programs that may lie anywhere have no address here, and newer ones never do.
                let stated = header(2).filter(|text| *text != 0);
                let (count, names) = (header(0)?, header(3)?);
                Self {
                    count,
                    names,
                    list,
                    records: list,
                    text: Some(stated.unwrap_or(text)),
                    is_text_assumed: stated.is_none(),
                    ..empty
                }
            }
            _ => return None,
        };
        (table.count <= MOST).then_some(table)
    }

    fn number(&self, at: u64, size: u64) -> Option<u64> {
        let start = usize::try_from(at).ok()?;
        let bytes = self.bytes.get(start..start.checked_add(usize::try_from(size).ok()?)?)?;
        let digit = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
        Some(match self.is_little_endian {
            true => bytes.iter().rev().fold(0, digit),
            false => bytes.iter().fold(0, digit),
        })
    }

    /// The size of a number in the list.
    fn entry(&self) -> u64 {
        if self.text.is_some() { 4 } else { self.word }
    }

    /// The first address of a function; behind the last one, the address where it ends.
    fn start(&self, index: u64) -> Option<u64> {
        let number = self.number(self.list.checked_add(index * 2 * self.entry())?, self.entry())?;
        Some(self.text.unwrap_or(0).wrapping_add(number))
    }

    fn name(&self, index: u64) -> Option<&'data str> {
        let place = self.list.checked_add((index * 2 + 1) * self.entry())?;
        let record = self.records.checked_add(self.number(place, self.entry())?)?;
        // The record begins with the function's address.
        let name = self.number(record.checked_add(self.entry())?, 4)?;
        let start = usize::try_from(self.names.checked_add(name)?).ok()?;
        let bytes = self.bytes.get(start..)?;
        let end = bytes.iter().take(4096).position(|byte| *byte == 0)?;
        std::str::from_utf8(&bytes[..end]).ok()
    }

    fn function(&self, index: u64) -> Option<GoFunction<'data>> {
        let (start, end) = (self.start(index)?, self.start(index + 1)?);
        let name = self.name(index).filter(|name| !name.is_empty())?;
        (start < end).then_some((start, end, name))
    }
}

/// Returns the functions of a file that Go's linker wrote; none of other files.
pub(crate) fn functions<'data>(file: &object::File<'data>) -> Vec<GoFunction<'data>> {
    let sections = [".gopclntab", ".data.rel.ro.gopclntab"];
    let section = sections.iter().find_map(|name| file.section_by_name(name));
    let bytes = section.and_then(|section| section.data().ok());
    let text = file.section_by_name(".text").map_or(0, |section| section.address());
    let Some(table) = bytes.and_then(|bytes| GoTable::parse(bytes, file.is_little_endian(), text))
    else {
        return Vec::new();
    };
    let all: Vec<_> = (0..table.count).filter_map(|index| table.function(index)).collect();
    // Another linker may have put C's functions before Go's. The entry is Go's if this one has not.
    let is_right = || {
        let is_entry =
            |(start, _, name): &GoFunction<'_>| *start == file.entry() && name.starts_with("_rt0_");
        all.iter().any(is_entry)
    };
    if table.is_text_assumed && !is_right() { Vec::new() } else { all }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A table of two functions as Go 1.20 writes it.
    fn table() -> Vec<u8> {
        let mut bytes = vec![0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8];
        let names = 72_u64;
        let list = 96_u64;
        for word in [2, 0, 0x1000, names, 0, 0, 0, list] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(b"main.main\0runtime.x\0\0\0\0\0");
        // Distances and records in turn, and the end.
        for number in [0x10_u32, 20, 0x40, 28, 0x90] {
            bytes.extend(number.to_le_bytes());
        }
        for number in [0x10_u32, 0, 0x40, 10] {
            bytes.extend(number.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn functions_are_read() {
        let bytes = table();
        let table = GoTable::parse(&bytes, true, 0).expect("it is one");
        assert_eq!(table.function(0), Some((0x1010, 0x1040, "main.main")));
        assert_eq!(table.function(1), Some((0x1040, 0x1090, "runtime.x")));
        assert_eq!(table.function(2), None);
    }

    #[test]
    fn other_tables_are_none() {
        assert!(GoTable::parse(b"", true, 0).is_none());
        assert!(GoTable::parse(&[0xff; 64], true, 0).is_none());
    }

    proptest! {
        #[test]
        fn a_damaged_table_does_no_harm(
            changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 0..9),
            version in prop_oneof![Just(0xfb_u8), Just(0xfa), Just(0xf0), Just(0xf1)],
            length in 0_usize..140, index: u64, text: u64, is_little_endian: bool,
        ) {
            let mut bytes = table();
            for (at, byte) in changes {
                let length = bytes.len();
                bytes[at.index(length)] = byte;
            }
            bytes[0] = version;
            bytes.truncate(length);
            if let Some(table) = GoTable::parse(&bytes, is_little_endian, text) {
                let _ = (table.function(index % MOST), table.function(0), table.function(1));
            }
        }
    }
}
