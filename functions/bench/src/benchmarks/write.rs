//! `write-sequential` and `write-random`: filling the page cache, with a file for each task.
//!
//! Each page that is new in the cache enters a list of pages by age. A NUMA node or a control group
//! has one such list, behind one lock: parallel writers wait for that lock. The first benchmark
//! appends to its file until the file is full, and then empties it. The second writes blocks of
//! 4 KiB in random order, to a file on tmpfs, and empties it when all blocks are written.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

use crate::resources::{check_file_size, task_file};
use crate::{Benchmark, Info, Kind, Refusal, Resources, Seat, Shared, Task};

/// Appends to the file.
pub(super) struct Sequential;

const SEQUENTIAL: Info = Info {
    name: "write-sequential",
    title: "files: parallel sequential writes, a file for each task",
    operation: "64 KiB appended to a file of the task's own, which is emptied at 32 MiB",
    source: "Byun, Gu, Oh, Bang 2023 (FinerLRU): IOR, file per process",
    default: Kind::Processes,
    only: None,
    keeps_core: false,
    hidden: false,
};

/// Writes anywhere in the file.
pub(super) struct Random;

const RANDOM: Info = Info {
    name: "write-random",
    title: "files: parallel random writes of 4 KiB on tmpfs",
    operation: "4 KiB written anywhere in 32 MiB of a file of the task's own, emptied after as many",
    source: "Byun, Gu, Oh, Bang 2023 (FinerLRU): 4K random writes",
    default: Kind::Processes,
    only: None,
    keeps_core: false,
    hidden: false,
};

/// How large a file becomes, in bytes.
pub(super) const FILE_BYTES: u64 = 32 << 20;
const SEQUENTIAL_BYTES: usize = 64 << 10;
const RANDOM_BYTES: usize = 4 << 10;
/// The number of blocks from one that is written to the next. The number of blocks in a file is a
/// power of two, so any odd stride visits them all. This one jumps about.
pub(super) const STRIDE: u64 = 0x9e37_79b1;

impl Benchmark for Sequential {
    fn info(&self) -> &'static Info {
        &SEQUENTIAL
    }

    fn prepare(&self, resources: &mut Resources<'_>) -> Result<Shared, Refusal> {
        check_file_size(FILE_BYTES)?;
        let room = u64::from(resources.tasks()) * FILE_BYTES;
        Ok(Shared { folder: Some(resources.folder(room)?), ..Shared::default() })
    }

    fn task(&self, shared: &Shared, seat: &Seat) -> Result<Box<dyn Task>, Refusal> {
        Writing::boxed(shared, seat, SEQUENTIAL_BYTES, 1)
    }
}

impl Benchmark for Random {
    fn info(&self) -> &'static Info {
        &RANDOM
    }

    fn prepare(&self, resources: &mut Resources<'_>) -> Result<Shared, Refusal> {
        check_file_size(FILE_BYTES)?;
        let room = u64::from(resources.tasks()) * FILE_BYTES;
        Ok(Shared { folder: Some(resources.memory_folder(room)?), ..Shared::default() })
    }

    fn task(&self, shared: &Shared, seat: &Seat) -> Result<Box<dyn Task>, Refusal> {
        Writing::boxed(shared, seat, RANDOM_BYTES, STRIDE)
    }
}

struct Writing {
    file: File,
    block: Vec<u8>,
    /// The number of blocks from one that is written to the next.
    stride: u64,
    /// How many blocks were written since the file was emptied.
    written: u64,
}

impl Writing {
    fn boxed(
        shared: &Shared,
        seat: &Seat,
        block_bytes: usize,
        stride: u64,
    ) -> Result<Box<dyn Task>, Refusal> {
        let file = task_file(&shared.folder()?.join(format!("file-{}", seat.index)))?;
        Ok(Box::new(Self { file, block: vec![b'k'; block_bytes], stride, written: 0 }))
    }
}

impl Task for Writing {
    fn run(&mut self, operations: u64) -> Result<(), Refusal> {
        let blocks = FILE_BYTES / self.block.len() as u64;
        for _ in 0..operations {
            if self.written == blocks {
                // SAFETY: the call touches no memory.
                if unsafe { libc::ftruncate(self.file.as_raw_fd(), 0) } != 0 {
                    return Err(Refusal::last("ftruncate"));
                }
                self.written = 0;
            }
            let at = self.written * self.stride % blocks * self.block.len() as u64;
            self.file
                .write_all_at(&self.block, at)
                .map_err(|error| Refusal::of("write to a scratch file", &error))?;
            self.written += 1;
        }
        Ok(())
    }
}
