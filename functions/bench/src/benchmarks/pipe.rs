//! `pipe`: writing a byte into a pipe of the task's own and reading it back.
//!
//! Nobody sleeps. The transfer of the byte is measured, not the switch between two tasks.

use std::io::{PipeReader, PipeWriter};
use std::os::fd::AsRawFd;

use crate::{Benchmark, Info, Kind, Refusal, Seat, Shared, Task};

pub(super) struct Pipe;

const INFO: Info = Info {
    name: "pipe",
    title: "pipes: write a byte and read it",
    operation: "a byte written into a pipe of the task's own and read back",
    source: "lmbench: lat_pipe, without the switch of tasks",
    default: Kind::Processes,
    only: None,
    keeps_core: true,
    hidden: false,
};

impl Benchmark for Pipe {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn task(&self, _shared: &Shared, _seat: &Seat) -> Result<Box<dyn Task>, Refusal> {
        let (reader, writer) = std::io::pipe().map_err(|error| Refusal::of("pipe", &error))?;
        Ok(Box::new(Passing { reader, writer }))
    }
}

struct Passing {
    reader: PipeReader,
    writer: PipeWriter,
}

impl Task for Passing {
    fn run(&mut self, operations: u64) -> Result<(), Refusal> {
        let (reader, writer) = (self.reader.as_raw_fd(), self.writer.as_raw_fd());
        let mut byte = 0_u8;
        for _ in 0..operations {
            // SAFETY: `byte` is the one byte that the kernel reads.
            if unsafe { libc::write(writer, (&raw const byte).cast(), 1) } != 1 {
                return Err(Refusal::last("write to a pipe"));
            }
            // SAFETY: `byte` is the one byte that the kernel may write.
            if unsafe { libc::read(reader, (&raw mut byte).cast(), 1) } != 1 {
                return Err(Refusal::last("read from a pipe"));
            }
        }
        Ok(())
    }
}
