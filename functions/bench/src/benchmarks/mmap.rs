//! `mmap`: mapping a large file that all tasks map, reading the first byte of every page, and
//! unmapping the file.
//!
//! The kernel keeps a list of each file's mappings, and page faults change the reference counts of
//! its pages. Tasks share both, even processes that share nothing else.

use std::hint::black_box;

use crate::environment::page_bytes;
use crate::sys::Mapping;
use crate::{Benchmark, Info, Kind, Refusal, Resources, Seat, Shared, Task};

pub(super) struct Mmap;

const INFO: Info = Info {
    name: "mmap",
    title: "memory: map a file that all map, read each page, unmap",
    operation: "a mapping of the same 500 MB, with a byte of each page read",
    source: "Cui, Chen, Shi 2012: mmapbench",
    default: Kind::Processes,
    only: None,
    keeps_core: false,
    hidden: false,
};

/// The size of the file in bytes, which is that in the paper.
const FILE_BYTES: u64 = 500_000_000;

impl Benchmark for Mmap {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn prepare(&self, resources: &mut Resources<'_>) -> Result<Shared, Refusal> {
        let (file, size) = resources.large_file(FILE_BYTES)?;
        Ok(Shared { files: vec![file], size, ..Shared::default() })
    }

    fn task(&self, shared: &Shared, _seat: &Seat) -> Result<Box<dyn Task>, Refusal> {
        let file = shared.file(shared.size)?;
        Ok(Box::new(Mapping500 { file, bytes: shared.size as usize, page: page_bytes() }))
    }
}

struct Mapping500 {
    file: std::fs::File,
    bytes: usize,
    page: usize,
}

impl Task for Mapping500 {
    fn run(&mut self, operations: u64) -> Result<(), Refusal> {
        for _ in 0..operations {
            let mapping = Mapping::read_only(&self.file, self.bytes)?;
            for at in (0..mapping.bytes()).step_by(self.page) {
                // SAFETY: the byte is inside the mapping, which is still there, and the file keeps
                // its size.
                black_box(unsafe { mapping.start().add(at).read_volatile() });
            }
        }
        Ok(())
    }
}
