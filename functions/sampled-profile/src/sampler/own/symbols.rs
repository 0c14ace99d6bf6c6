//! Where the kernel and its modules lie, for readers that name addresses of the kernel.
//!
//! The kernel records what the program maps, but not where the kernel itself lies. So, like perf,
//! the sampler makes records of such mappings from files in `/proc`:
//!
//! ```text
//! ffffffff81000000 T _stext                                        (/proc/kallsyms)
//! nf_tables 372736 84 nft_ct, Live 0xffffffffc0a41000               (/proc/modules)
//! kernel/net/netfilter/nf_tables.ko: kernel/net/netfilter/nfnetlink.ko      (modules.dep)
//! ```

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};

use kilocore_process::kernel_release;
use perf_event_open_sys::bindings::{PERF_RECORD_MISC_KERNEL, PERF_RECORD_MMAP};

use super::attribute::TRAILER;
use kilocore_linux::perf_events as raw;

/// The kernel's name as an object with code.
pub(crate) const KERNEL_NAME: &str = "[kernel.kallsyms]";

/// Where an object lies.
#[derive(Debug, PartialEq, Eq)]
struct CodeRange {
    name: String,
    start: u64,
    length: u64,
    /// What the kernel's readers compare with the kernel's own symbol table.
    offset: u64,
}

/// Records of where kernel and modules lie, or why not all can be told.
pub(crate) fn kernel_mappings() -> (Vec<u8>, Option<String>) {
    let symbols = File::open("/proc/kallsyms").ok().map(BufReader::new);
    let Some(kernel) = symbols.and_then(kernel_text) else {
        let why = "the kernel does not tell its addresses, so its functions have no names; as \
                   root, `sysctl kernel.kptr_restrict=0` makes it tell them";
        return (Vec::new(), Some(why.to_owned()));
    };
    let modules = fs::read_to_string("/proc/modules").unwrap_or_default();
    let release = kernel_release();
    let folder = format!("/lib/modules/{release}");
    let index = fs::read_to_string(format!("{folder}/modules.dep")).unwrap_or_default();
    let files = module_files(&folder, &index);
    let places = std::iter::once(kernel).chain(module_places(&modules, &files));
    (places.flat_map(|place| mapping(&place)).collect(), None)
}

/// The kernel's build id, if it may be read.
pub(crate) fn kernel_build_id() -> Option<Vec<u8>> {
    build_id(&fs::read("/sys/kernel/notes").ok()?)
}

/// The kernel's code, by its symbols; none if addresses are hidden.
fn kernel_text(symbols: impl BufRead) -> Option<CodeRange> {
    let mut start = None;
    for line in symbols.lines() {
        let line = line.ok()?;
        let mut words = line.split_ascii_whitespace();
        let (address, _, name) = (words.next()?, words.next()?, words.next()?);
        match name {
            "_text" | "_stext" if start.is_none() => {
                start = Some((hexadecimal(address)?, name.to_owned()))
            }
            "_etext" => {
                let (start, name) = start?;
                let length = hexadecimal(address)?.checked_sub(start)?;
                let name = format!("{KERNEL_NAME}{name}");
                return (start != 0).then_some(CodeRange { name, start, length, offset: start });
            }
            _ => {}
        }
    }
    None
}

/// The files of modules, by the modules' names.
fn module_files(folder: &str, index: &str) -> HashMap<String, String> {
    let lines = index.lines().filter_map(|line| line.split(':').next());
    lines
        .filter_map(|file| {
            let name = file.rsplit('/').next()?.split(".ko").next()?;
            Some((name.replace('-', "_"), format!("{folder}/{file}")))
        })
        .collect()
}

/// The modules' places, by `/proc/modules`; those whose addresses are hidden are left out.
fn module_places(modules: &str, files: &HashMap<String, String>) -> Vec<CodeRange> {
    let place = |line: &str| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let (module, length) = (*words.first()?, words.get(1)?.parse().ok()?);
        let start = hexadecimal(words.get(5)?).filter(|start| *start != 0)?;
        let name = files.get(module).cloned().unwrap_or_else(|| format!("[{module}]"));
        Some(CodeRange { name, start, length, offset: 0 })
    };
    modules.lines().filter_map(place).collect()
}

fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok()
}

/// The record of a mapping of the kernel's.
fn mapping(place: &CodeRange) -> Vec<u8> {
    let mut name = place.name.clone().into_bytes();
    name.resize((name.len() + 1).next_multiple_of(8), 0);
    raw::record(
        PERF_RECORD_MMAP,
        PERF_RECORD_MISC_KERNEL as u16,
        &[
            &(-1i32).to_ne_bytes(),
            &0u32.to_ne_bytes(),
            &place.start.to_ne_bytes(),
            &place.length.to_ne_bytes(),
            &place.offset.to_ne_bytes(),
            &name,
            &[0; TRAILER],
        ],
    )
}

/// The build id among ELF notes.
fn build_id(mut notes: &[u8]) -> Option<Vec<u8>> {
    const BUILD_ID: u32 = 3;
    while let Some((header, rest)) = notes.split_first_chunk::<12>() {
        let number = |at: usize| {
            let [a, b, c, d] = [header[at], header[at + 1], header[at + 2], header[at + 3]];
            u32::from_ne_bytes([a, b, c, d])
        };
        let padded = |length: u32| usize::try_from(length).ok()?.checked_next_multiple_of(4);
        let (name, rest) = rest.split_at_checked(padded(number(0))?)?;
        let contents = rest.get(..number(4) as usize)?;
        if number(8) == BUILD_ID && name == b"GNU\0" {
            return Some(contents.to_vec());
        }
        notes = rest.get(padded(number(4))?..)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_kernel_lies_between_two_symbols() {
        let symbols =
            "ffff1000 T startup\nffff1000 T _text\nffff1000 T _stext\nffff5000 T _etext\n";
        let place = kernel_text(symbols.as_bytes()).unwrap();
        assert_eq!(
            (place.name.as_str(), place.start, place.length),
            ("[kernel.kallsyms]_text", 0xffff_1000, 0x4000)
        );
        assert_eq!(kernel_text("0 T _text\n0 T _etext\n".as_bytes()), None, "hidden");
        assert_eq!(kernel_text("ffff1000 T _text\n".as_bytes()), None);
    }

    #[test]
    fn modules_are_named_by_their_files() {
        let files = module_files("/lib/modules/6", "kernel/fs/xfs/x-fs.ko.xz: kernel/lib/a.ko\n");
        let modules = "x_fs 4096 1 - Live 0xffffc000\nother 8 0 - Live 0xffffd000 (O)\nhidden 8 0 - Live 0x0\n\n";
        let places = module_places(modules, &files);
        let names: Vec<&str> = places.iter().map(|place| place.name.as_str()).collect();
        assert_eq!(names, ["/lib/modules/6/kernel/fs/xfs/x-fs.ko.xz", "[other]"]);
        assert_eq!((places[0].start, places[0].length), (0xffff_c000, 4096));
    }

    /// A note as the kernel writes it.
    fn note(name: &[u8], kind: u32, contents: &[u8]) -> Vec<u8> {
        let mut note =
            [name.len() as u32, contents.len() as u32, kind].map(u32::to_ne_bytes).concat();
        for part in [name, contents] {
            note.extend_from_slice(part);
            note.resize(note.len().next_multiple_of(4), 0);
        }
        note
    }

    #[test]
    fn the_build_id_is_found_behind_other_notes() {
        let notes = [note(b"Xen\0", 3, b"12345"), note(b"GNU\0", 3, b"abcde")].concat();
        assert_eq!(build_id(&notes).as_deref(), Some(&b"abcde"[..]));
        assert_eq!(build_id(&notes[..notes.len() - 4]), None);
    }

    proptest! {
        #[test]
        fn no_text_or_bytes_are_too_strange(bytes in proptest::collection::vec(0u8..8, 0..64), text in "\\PC{0,60}") {
            build_id(&bytes);
            kernel_text(text.as_bytes());
            module_places(&text, &module_files("/", &text));
        }
    }
}
