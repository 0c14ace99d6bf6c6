//! The processor's counter of cycles, which is the host's: what reads it is another run each time.

use std::path::Path;

use kilocore_linux::maps::Mapping;
use kilocore_qemu_plugin::mappings;

use crate::depends;

/// `rdtsc`, and `rdtscp`.
const READ: [&[u8]; 2] = [&[0x0f, 0x31], &[0x0f, 0x01, 0xf9]];
/// Bytes that may stand before an instruction and change nothing here.
const PREFIXES: [u8; 3] = [0x66, 0xf2, 0xf3];
/// The same of 64 bits.
const WIDE: std::ops::RangeInclusive<u8> = 0x40..=0x4f;

/// Whether an instruction reads the counter.
pub(crate) fn reads_counter(bytes: &[u8]) -> bool {
    let is_prefix = |byte: &&u8| PREFIXES.contains(byte) || WIDE.contains(byte);
    let before = bytes.iter().take_while(is_prefix).count();
    READ.contains(&&bytes[before..])
}

/// The program is about to read it, at this address.
pub(crate) fn is_read(address: u64) {
    if depends::is_for_once() {
        return;
    }
    let all = mappings();
    let at = all.iter().find(|one| (one.start..one.end).contains(&address));
    if !at.and_then(Mapping::file).is_some_and(is_loader) {
        depends::also("it reads the processor's counter of cycles, which is this host's");
    }
}

/// Whether a file is the dynamic linker of glibc, which times itself for those who debug it.
fn is_loader(path: &str) -> bool {
    let name = Path::new(path).file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with("ld-linux") || name.starts_with("ld-2."))
}
