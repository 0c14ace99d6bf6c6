//! What a thread waits for that waits for descriptors.

use std::os::fd::RawFd;

use crate::internal::Kind;
use crate::{asked, outside, room};

/// What a thread waits for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Awaits {
    /// One of those that this call asks for.
    Asked { call: i64, arguments: [u64; 6] },
    /// Something to read.
    Something { descriptor: RawFd, kind: Kind },
    /// Room for so many bytes.
    Room { descriptor: RawFd, bytes: u64 },
    /// That so much can be added to a counter.
    Count { descriptor: RawFd, adds: u64 },
}

impl Awaits {
    /// Whether it has come.
    pub(crate) fn has_come(self) -> bool {
        match self {
            Self::Asked { call, arguments } => asked::is_ready(call, arguments),
            Self::Something { descriptor, .. } => outside::is_ready(descriptor, libc::POLLIN),
            Self::Room { descriptor, bytes } => room::have_room(descriptor, bytes),
            Self::Count { descriptor, adds } => room::can_count(descriptor, adds),
        }
    }

    /// The call, if it only asks.
    pub(crate) fn call(self) -> Option<(i64, [u64; 6])> {
        match self {
            Self::Asked { call, arguments } => Some((call, arguments)),
            _ => None,
        }
    }

    /// Whether it is asked for, and not taken.
    pub(crate) fn is_asked(self) -> bool {
        matches!(self, Self::Asked { .. })
    }

    /// Whether only the program's own threads can end the wait. Signals apart.
    pub(crate) fn is_internal(self) -> bool {
        match self {
            Self::Asked { call, arguments } => asked::is_internal(call, arguments),
            _ => true,
        }
    }

    /// The pipe of whose readers one is woken at a time, if it is one of these.
    pub(crate) fn takes_turns_at(self) -> Option<u64> {
        match self {
            Self::Something { kind: Kind::Pipe(number), .. } => Some(number),
            _ => None,
        }
    }

    /// Whether its call lets other signals come for as long as it waits.
    pub(crate) fn lets_signals_come(self) -> bool {
        self.call().is_some_and(|(call, arguments)| asked::has_signals(call, arguments))
    }
}
