//! Records from which file each range of code was mapped, so that addresses can be named after the
//! run.
//!
//! The recorder reads `/proc/self/maps` when a call site has an address that is not known yet. This
//! needs no lock of the dynamic linker, sees libraries that were loaded later, and costs at most
//! about a tenth of a millisecond for each library.

use core::sync::atomic::Ordering;

use kilocore_lock_recording::{ModuleBlock, PATH_BYTES};

use crate::descriptors::close;
use crate::file;
use crate::recorder::Recorder;

/// The largest number of times that a process reads the memory map. The limit is needed because
/// code that is generated at run time appears at new addresses all the time.
const MAP_READS: u32 = 400;

/// Returns an address inside this library's code.
fn own_address() -> u64 {
    own_range as fn(Recorder) -> (u64, u64) as usize as u64
}

/// Returns the range of memory in which this library's code lies. It is empty if it is unknown.
pub(crate) fn own_range(recorder: Recorder) -> (u64, u64) {
    let own = own_address();
    let found = find(recorder, own).or_else(|| {
        let _tables = recorder.lock_tables()?;
        note(recorder, &[own]);
        find(recorder, own)
    });
    found.map_or((0, 0), |module| {
        (module.start.load(Ordering::Relaxed), module.end.load(Ordering::Relaxed))
    })
}

/// Returns the module in which `address` lies, if it was noted.
fn find(recorder: Recorder, address: u64) -> Option<&'static ModuleBlock> {
    recorder
        .state()
        .modules
        .iter()
        .map_while(|unit| recorder.block::<ModuleBlock>(unit.load(Ordering::Acquire)))
        .find(|module| {
            (module.start.load(Ordering::Relaxed)..module.end.load(Ordering::Relaxed))
                .contains(&address)
        })
}

/// Notes the modules of `addresses`. The tables must be locked.
pub(crate) fn note(recorder: Recorder, addresses: &[u64]) {
    let reads = &recorder.state().map_reads;
    if addresses.iter().all(|address| find(recorder, *address).is_some())
        || reads.load(Ordering::Relaxed) >= MAP_READS
    {
        return;
    }
    reads.fetch_add(1, Ordering::Relaxed);
    note_all(recorder);
}

/// Notes all modules that are mapped now. The tables must be locked.
pub(crate) fn note_all(recorder: Recorder) {
    let descriptor = file::open_to_read(c"/proc/self/maps");
    if descriptor < 0 {
        return;
    }
    let mut lines = Lines { descriptor, buffer: [0; 4096], start: 0, end: 0 };
    while let Some(line) = lines.next() {
        if let Some(mapping) = Mapping::parse(line)
            && find(recorder, mapping.start).is_none()
        {
            append(recorder, &mapping);
        }
    }
    close(descriptor);
}

/// Adds a module to the recording.
fn append(recorder: Recorder, mapping: &Mapping<'_>) {
    let free = recorder.state().modules.iter().find(|unit| unit.load(Ordering::Relaxed) == 0);
    let Some(free) = free else { return };
    let unit = recorder.allocate(|module: *mut ModuleBlock| {
        // SAFETY: the block is new and zeroed, and only this thread knows it.
        let module = unsafe { &mut *module };
        *module.start.get_mut() = mapping.start;
        *module.end.get_mut() = mapping.end;
        *module.offset.get_mut() = mapping.offset;
        for (to, from) in module.path[..PATH_BYTES - 1].iter_mut().zip(mapping.path) {
            *to = *from;
        }
    });
    if let Some(unit) = unit {
        free.store(unit, Ordering::Release);
    }
}

/// A line of the memory map that describes executable memory.
struct Mapping<'a> {
    start: u64,
    end: u64,
    offset: u64,
    path: &'a [u8],
}

impl<'a> Mapping<'a> {
    /// Parses one line of `/proc/self/maps`: `start-end rwxp offset device inode   path`. Returns
    /// nothing for memory that is not executable. A real line:
    ///
    /// ```text
    /// 7f1c2a628000-7f1c2a7bd000 r-xp 00028000 08:01 1835046 /usr/lib/x86_64-linux-gnu/libc.so.6
    /// ```
    fn parse(line: &'a [u8]) -> Option<Self> {
        let (start, rest) = hexadecimal(line)?;
        let (end, rest) = hexadecimal(rest.strip_prefix(b"-")?)?;
        let rest = rest.strip_prefix(b" ")?;
        if rest.get(2) != Some(&b'x') {
            return None;
        }
        let (offset, mut rest) = hexadecimal(rest.get(5..)?)?;
        for _ in 0..2 {
            rest = rest.trim_ascii_start();
            let field = rest.iter().position(|byte| *byte == b' ').unwrap_or(rest.len());
            rest = &rest[field..];
        }
        Some(Self { start, end, offset, path: rest.trim_ascii_start() })
    }
}

/// Parses the hexadecimal number at the start of `text`, and returns it and the text behind it.
fn hexadecimal(text: &[u8]) -> Option<(u64, &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    if digits == 0 || digits > 16 {
        return None;
    }
    let (digits, rest) = text.split_at(digits);
    let number = digits.iter().fold(0, |number: u64, digit| {
        let value = match digit {
            b'0'..=b'9' => digit - b'0',
            _ => (digit | 0x20) - b'a' + 10,
        };
        number << 4 | u64::from(value)
    });
    Some((number, rest))
}

/// Reads a file line by line. A line longer than the buffer is cut in two.
struct Lines {
    descriptor: libc::c_int,
    buffer: [u8; 4096],
    start: usize,
    end: usize,
}

impl Lines {
    fn next(&mut self) -> Option<&[u8]> {
        loop {
            let unread = &self.buffer[self.start..self.end];
            if let Some(length) = unread.iter().position(|byte| *byte == b'\n') {
                let start = self.start;
                self.start += length + 1;
                return Some(&self.buffer[start..start + length]);
            }
            if !self.refill() {
                let (start, end) = (self.start, self.end);
                self.start = end;
                return (start < end).then(|| &self.buffer[start..end]);
            }
        }
    }

    /// Moves the unread bytes to the front of the buffer and reads on. Returns whether it has read
    /// anything.
    fn refill(&mut self) -> bool {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        let room = &mut self.buffer[self.end..];
        if room.is_empty() {
            return false;
        }
        // SAFETY: the descriptor is open, and the buffer has that much room.
        let read = unsafe {
            libc::syscall(libc::SYS_read, self.descriptor, room.as_mut_ptr(), room.len())
        };
        self.end += read.max(0) as usize;
        read > 0
    }
}
