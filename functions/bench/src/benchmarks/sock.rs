//! `sock`: making a socket and closing it.
//!
//! A socket has an inode and a name in the kernel's own file system for sockets. What did not scale
//! are the lists of these inodes and names.

use crate::sys::check;
use crate::{Benchmark, Info, Kind, Refusal, Seat, Shared, Task};

pub(super) struct Sock;

const INFO: Info = Info {
    name: "sock",
    title: "sockets: make and close",
    operation: "a TCP socket that is made and closed",
    source: "Cui, Chen, Shi 2012: sockbench",
    default: Kind::Processes,
    only: None,
    keeps_core: true,
    hidden: false,
};

impl Benchmark for Sock {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn task(&self, _shared: &Shared, _seat: &Seat) -> Result<Box<dyn Task>, Refusal> {
        Ok(Box::new(Sockets))
    }
}

struct Sockets;

impl Task for Sockets {
    fn run(&mut self, operations: u64) -> Result<(), Refusal> {
        for _ in 0..operations {
            // SAFETY: the call touches no memory.
            let fd = check("socket", unsafe {
                libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0)
            })?;
            // SAFETY: the descriptor was just made and belongs to nobody else.
            check("close", unsafe { libc::close(fd) })?;
        }
        Ok(())
    }
}
