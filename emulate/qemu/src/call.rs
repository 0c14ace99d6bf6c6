//! A call of the system that a thread is in.

use crate::memory;
use crate::outside::Waits;

/// What a call returns that QEMU has not made, as a signal comes before.
pub(crate) const ERESTARTSYS: i64 = -512;

/// A call that a signal has interrupted: its number and its arguments.
pub(crate) type Interrupted = (i64, [u64; 6]);

/// Whether a call reads from a descriptor or writes to one, from where it stands.
pub(crate) fn reads_or_writes(call: i64) -> bool {
    matches!(
        call,
        libc::SYS_read
            | libc::SYS_readv
            | libc::SYS_recvfrom
            | libc::SYS_recvmsg
            | libc::SYS_write
            | libc::SYS_writev
            | libc::SYS_sendto
            | libc::SYS_sendmsg
    )
}

/// What is to be known of a call until it returns.
#[derive(Debug, Default)]
pub(crate) struct Call {
    pub(crate) arguments: [u64; 6],
    pub(crate) change: Change,
    /// The path that it names, from the root.
    pub(crate) path: Option<String>,
    /// What the clock was when the call began.
    pub(crate) clock: u64,
}

/// What was changed for the moment of a call, so that it returns at once.
#[derive(Debug, Default)]
pub(crate) enum Change {
    /// Nothing.
    #[default]
    None,
    /// The word of a futex.
    Word {
        /// Where it is.
        address: u64,
        /// What was there.
        was: u32,
    },
    /// Sixteen bytes: a time, or the beginning of a mask or of a path.
    Bytes {
        /// Where it is.
        address: u64,
        /// What was there.
        was: [u64; 2],
    },
    /// Perhaps a path, of a file that is to have another content.
    File {
        /// What it is to have.
        content: String,
        /// Where the path is, and what was there, unless nobody could write there.
        path: Option<(u64, [u64; 2])>,
    },
    /// Nothing, and it is [interrupted](crate::interrupts) if it waits.
    Interrupted,
    /// Nothing, as the call really waits: the thread is outside meanwhile.
    Outside(Waits),
}

impl Change {
    /// Lets a call that waits until the time at an address, or for so long, return at once.
    pub(crate) fn at_once(address: u64) -> Self {
        let Some(was) = memory::read_u64s(address) else { return Self::None };
        if memory::write(address, &[0; 16]) { Self::Bytes { address, was } } else { Self::None }
    }
}
