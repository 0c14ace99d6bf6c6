//! Reading the memory of another process.

use std::collections::BTreeMap;

use crate::ids::Pid;

/// How much code before an address is read.
const CODE: usize = 96;

/// Reads bytes at an address, as many as there are without a gap. Returns an empty list if there
/// are none, or if they may not be read.
pub(crate) fn read(pid: Pid, address: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0u8; length];
    let local = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: length };
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: length };
    let pid = pid.0 as libc::pid_t;
    // SAFETY: the one local part is `bytes`, which is ours; the kernel checks the remote part.
    let read = unsafe { libc::process_vm_readv(pid, &raw const local, 1, &raw const remote, 1, 0) };
    bytes.truncate(usize::try_from(read).unwrap_or(0));
    bytes
}

/// The code of processes, as far as it was asked for.
#[derive(Debug, Default)]
pub(crate) struct Code {
    before: BTreeMap<(Pid, u64), Vec<u8>>,
}

impl Code {
    /// The bytes before an address.
    pub(crate) fn before(&mut self, pid: Pid, address: u64) -> &[u8] {
        self.before.entry((pid, address)).or_insert_with(|| {
            let page = 4096;
            let whole = read(pid, address.saturating_sub(CODE as u64), CODE);
            if whole.len() == CODE {
                return whole;
            }
            // The page before may not be there.
            let start = address.saturating_sub(1) & !(page - 1);
            let length = (address - start) as usize;
            let part = read(pid, start, length);
            if part.len() == length { part } else { Vec::new() }
        })
    }

    /// Forgets the code of a process, which has executed another program.
    pub(crate) fn forget(&mut self, pid: Pid) {
        self.before.retain(|(of, _), _| *of != pid);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_as_far_as_it_is_there() {
        let own = Pid(std::process::id());
        let bytes = *b"some bytes of this process";
        let address = bytes.as_ptr() as u64;
        assert_eq!(read(own, address, bytes.len()), bytes);
        assert!(read(own, 8, 16).is_empty());
        let code = read as fn(Pid, u64, usize) -> Vec<u8> as usize as u64 + 64;
        assert!(!Code::default().before(own, code).is_empty());
    }
}
