//! The memory that the program and its reader share: a file without a name.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};

use kilocore_references::layout::{Shared, Sizes};

/// The memory. It is there as long as this is.
#[derive(Debug)]
pub(crate) struct Memory {
    file: File,
    base: *mut u8,
    bytes: usize,
    shared: Shared<'static>,
}

// SAFETY: the memory is reached by its atomics only, and the file not at all.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

const FLAGS: libc::c_uint = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
/// It keeps its size, and whoever has it open cannot take that back.
const SEALS: libc::c_int = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;

impl Memory {
    pub(crate) fn new(sizes: Sizes, quantum: u32) -> io::Result<Self> {
        // SAFETY: a C string.
        let descriptor = unsafe { libc::memfd_create(c"references".as_ptr(), FLAGS) };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a descriptor that was just opened, and that nobody else knows.
        let file = unsafe { File::from_raw_fd(descriptor) };
        let bytes = sizes.bytes();
        // The memory comes into being as it is used.
        file.set_len(bytes as u64)?;
        // The program may open it, too. If it could cut the file short, this process would end by SIGBUS.
        // SAFETY: the call takes numbers, and the descriptor is open.
        if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, SEALS) } != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a new mapping of a file.
        let base = unsafe {
            libc::mmap(
                core::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = base.cast();
        // SAFETY: the mapping has as many bytes, all zero, and begins with a page. It is unmapped when
        // this is dropped; `shared` gives out nothing that lives longer.
        let shared = unsafe { Shared::create(base, bytes, sizes, quantum, std::process::id()) };
        match shared {
            Ok(shared) => Ok(Self { file, base, bytes, shared }),
            Err(error) => {
                // SAFETY: nobody knows of it.
                unsafe { libc::munmap(base.cast(), bytes) };
                Err(io::Error::other(error))
            }
        }
    }

    pub(crate) fn shared(&self) -> &Shared<'_> {
        &self.shared
    }

    /// A name under which the program can open it.
    pub(crate) fn name(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd())
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`, which nobody uses any more.
        unsafe { libc::munmap(self.base.cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_cannot_take_the_memory_away() {
        let sizes = Sizes { rings: 1, slots: kilocore_references::layout::FEWEST_SLOTS };
        let memory = Memory::new(sizes, 1000).expect("there is room");
        let program = File::options().read(true).write(true).open(memory.name()).expect("it may");
        assert!(program.set_len(0).is_err() && program.set_len(1 << 30).is_err());
        assert_eq!(program.metadata().expect("it is there").len(), sizes.bytes() as u64);
    }
}
