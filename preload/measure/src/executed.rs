//! Notes on programs that this process starts, and that may have no recorder in them: those that are not
//! dynamically linked for this architecture by glibc's linker, and those with other rights.
//!
//! Looking from outside finds such a program only if it lives for some hundredths of a second. So
//! whoever executes it first leaves a file `DEVICE-INODE.executed` beside the recordings, which contains its own
//! number and the program's path. Whether the program really cannot be recorded is judged by who reads that.

use core::ffi::CStr;

use kilocore_lock_recording::PATH_BYTES;

use crate::confined;
use crate::descriptors::{FileId, close, open_program, status_of};
use crate::environment::{self, Text};
use crate::file::write_word;
use crate::folder::Folder;

/// How much of a program's file is looked at. Linkers put what is needed there.
const LOOKED_AT: usize = 2048;

/// How many scripts may be each other's interpreters, as in the kernel.
const SCRIPTS: usize = 5;

/// What the name of glibc's dynamic linker contains.
const GLIBCS_LINKER: &[u8] = b"/ld-linux";
/// The same on s390x and on powerpc64.
const GLIBCS_OTHER_LINKER: &[u8] = b"/ld64.so";

/// What is known of a program's file: 64-bit ELF, as `elf.h` has it.
mod elf {
    pub(super) const ANY: &[u8] = b"\x7fELF";
    pub(super) const MAGIC: &[u8] = b"\x7fELF\x02";
    pub(super) const MACHINE: usize = 18;
    pub(super) const HEADERS: usize = 32;
    pub(super) const HEADER_BYTES: usize = 54;
    pub(super) const HEADER_COUNT: usize = 56;
    /// In a program header.
    pub(super) const OFFSET: usize = 8;
    pub(super) const SIZE: usize = 32;
    pub(super) const INTERPRETER: u32 = 3;
}

/// The machine that this library is for, as ELF numbers it.
const MACHINE: Option<u16> = if cfg!(target_arch = "x86_64") {
    Some(62)
} else if cfg!(target_arch = "aarch64") {
    Some(183)
} else {
    None
};

/// Leaves a note if the program in this file may not be recorded. It is safe in a child that shares its
/// parent's memory.
pub(crate) fn note(program: &CStr, process: u32) {
    if notes_are_wanted() && is_executable(program) {
        note_executable(program, process);
    }
}

fn notes_are_wanted() -> bool {
    environment::configure() && !confined::is_confined()
}

fn is_executable(path: &CStr) -> bool {
    // SAFETY: the path is a string.
    unsafe { libc::access(path.as_ptr(), libc::X_OK) == 0 }
}

fn note_executable(program: &CStr, process: u32) {
    let mut bytes = [0; LOOKED_AT];
    let mut descriptor = open_program(program);
    for _ in 0..SCRIPTS {
        if descriptor < 0 {
            return;
        }
        let Ok(status) = status_of(descriptor) else { break };
        let length = beginning(descriptor, &status, &mut bytes);
        let is_seen = is_seen(&bytes[..length], status.st_mode);
        match interpreter(&mut bytes, length) {
            Some(interpreter) => {
                close(descriptor);
                descriptor = open_program(interpreter);
            }
            None if is_seen => break,
            None => {
                leave(descriptor, FileId::of(&status), process);
                break;
            }
        }
    }
    close(descriptor);
}

/// The same of a program that is searched for, as the shell does.
pub(crate) fn note_searched(program: &CStr, process: u32) {
    let name = program.to_bytes();
    if name.contains(&b'/') {
        return note(program, process);
    }
    if !notes_are_wanted() {
        return;
    }
    // SAFETY: the name is a string. Whoever changes the environment meanwhile breaks the contract of the
    // function that was called, too.
    let path = unsafe { libc::getenv(c"PATH".as_ptr()) };
    if path.is_null() || name.is_empty() {
        return;
    }
    // SAFETY: the environment's strings end with a zero byte.
    let path = unsafe { CStr::from_ptr(path) };
    for folder in path.to_bytes().split(|byte| *byte == b':') {
        let mut whole = [0; PATH_BYTES];
        let length = folder.len() + 1 + name.len();
        if length >= whole.len() || folder.is_empty() {
            continue;
        }
        whole[..folder.len()].copy_from_slice(folder);
        whole[folder.len()] = b'/';
        whole[folder.len() + 1..length].copy_from_slice(name);
        let Ok(whole) = CStr::from_bytes_until_nul(&whole) else { continue };
        if is_executable(whole) {
            return note_executable(whole, process);
        }
    }
}

/// Reads the beginning of an open file. Returns its length, which is 0 if it is not a regular file.
fn beginning(descriptor: libc::c_int, status: &libc::stat, bytes: &mut [u8; LOOKED_AT]) -> usize {
    if status.st_mode & libc::S_IFMT != libc::S_IFREG {
        return 0;
    }
    // SAFETY: the buffer is ours and has that length.
    let read =
        unsafe { libc::syscall(libc::SYS_pread64, descriptor, bytes.as_mut_ptr(), bytes.len(), 0) };
    usize::try_from(read).unwrap_or(0)
}

/// The path of the interpreter of a script that begins so.
fn interpreter(bytes: &mut [u8; LOOKED_AT], length: usize) -> Option<&CStr> {
    let line = bytes[..length].strip_prefix(b"#!")?;
    let blanks = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let begin = b"#!".len() + blanks;
    let is_end = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | 0);
    let end = begin + bytes[begin..length].iter().position(is_end)?;
    bytes[end] = 0;
    CStr::from_bytes_with_nul(&bytes[begin..=end]).ok().filter(|path| !path.is_empty())
}

/// Whether a program that begins so and has this mode surely has the recorder in it. What is no program ends
/// by itself.
fn is_seen(bytes: &[u8], mode: libc::mode_t) -> bool {
    !bytes.starts_with(elf::ANY)
        || mode & (libc::S_ISUID | libc::S_ISGID) == 0 && has_glibcs_linker(bytes) == Some(true)
}

/// Whether the beginning of a file is that of a program which glibc's linker links.
fn has_glibcs_linker(bytes: &[u8]) -> Option<bool> {
    if !bytes.starts_with(elf::MAGIC) {
        return Some(false);
    }
    let machine = u16::from_ne_bytes(*bytes.get(elf::MACHINE..)?.first_chunk()?);
    if MACHINE.is_some_and(|own| own != machine) {
        return Some(false);
    }
    let headers = usize::try_from(word(bytes, elf::HEADERS)?).ok()?;
    let size = usize::from(u16::from_ne_bytes(*bytes.get(elf::HEADER_BYTES..)?.first_chunk()?));
    let count = usize::from(u16::from_ne_bytes(*bytes.get(elf::HEADER_COUNT..)?.first_chunk()?));
    for index in 0..count {
        let header = bytes.get(headers.checked_add(index.checked_mul(size)?)?..)?;
        if u32::from_ne_bytes(*header.first_chunk()?) != elf::INTERPRETER {
            continue;
        }
        let from = usize::try_from(word(header, elf::OFFSET)?).ok()?;
        let length = usize::try_from(word(header, elf::SIZE)?).ok()?;
        let linker = bytes.get(from..from.checked_add(length)?)?;
        let is = |name: &[u8]| linker.windows(name.len()).any(|part| part == name);
        return Some(is(GLIBCS_LINKER) || is(GLIBCS_OTHER_LINKER));
    }
    Some(false)
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|word| u64::from_ne_bytes(*word))
}

/// Says in a new file beside the recordings that this process executes the program in an open file, unless
/// that was said before.
fn leave(descriptor: libc::c_int, program: FileId, process: u32) {
    let Ok(folder) = Folder::open() else { return };
    if !folder.is_own() {
        return;
    }
    let file = folder.create(&environment::executed_name(program), libc::O_WRONLY);
    if file < 0 {
        return;
    }
    let mut link = Text::<32>::new();
    link.push_all(b"/proc/self/fd/");
    link.push_number(descriptor as u64);
    let mut text = Text::<{ PATH_BYTES + 12 }>::new();
    text.push_number(process.into());
    text.push_all(b" ");
    let path = &mut text.bytes[text.length..];
    // SAFETY: the link's name is a string, and the buffer is ours and has that length.
    let length =
        unsafe { libc::readlink(link.bytes.as_ptr().cast(), path.as_mut_ptr().cast(), path.len()) };
    let end = text.length + usize::try_from(length).unwrap_or(0);
    write_word(file, &text.bytes[..end]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_glibc_is_seen_and_a_changed_one_is_not() {
        let bytes = std::fs::read("/proc/self/exe").expect("it runs");
        let judged = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = bytes[..LOOKED_AT].to_vec();
            change(&mut bytes);
            has_glibcs_linker(&bytes)
        };
        assert_eq!(judged(&|_| ()), Some(true));
        assert_eq!(judged(&|bytes| bytes[4] = 1), Some(false), "32 bits");
        assert_eq!(judged(&|bytes| bytes[elf::MACHINE] ^= 1), Some(false));
        let at = bytes.windows(9).position(|part| part == GLIBCS_LINKER).expect("it is linked");
        assert_eq!(
            judged(&|bytes| bytes[at + 1..at + 9].copy_from_slice(b"ld-musl-")),
            Some(false)
        );
        assert_eq!(judged(&|bytes| bytes.truncate(60)), None);
        assert!(is_seen(&bytes[..LOOKED_AT], 0o755));
        assert!(!is_seen(&bytes[..LOOKED_AT], 0o4755), "it has other rights");
        assert!(is_seen(b"echo no program", 0o755));
    }

    #[test]
    fn a_script_is_judged_by_its_interpreter() {
        let of = |text: &[u8]| {
            let mut bytes = [0; LOOKED_AT];
            bytes[..text.len()].copy_from_slice(text);
            interpreter(&mut bytes, text.len()).map(|path| path.to_bytes().to_vec())
        };
        for line in [&b"#!/bin/sh\n"[..], b"#! /bin/sh -e\n", b"#!\t/bin/sh\t-x", b"#!/bin/sh\0"] {
            assert_eq!(of(line).as_deref(), Some(&b"/bin/sh"[..]));
        }
        for line in [&b"#!"[..], b"#! \n", b"#!/cut/off", b"/bin/sh\n", b""] {
            assert_eq!(of(line), None);
        }
    }
}
