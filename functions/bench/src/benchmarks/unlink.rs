//! `unlink`: making a file in a folder that all tasks share, and removing it.
//!
//! Both change the folder, and the kernel lets only one task at a time do that.

use std::ffi::CString;

use crate::sys::{self, check};
use crate::{Benchmark, Info, Kind, Refusal, Resources, Seat, Shared, Task};

pub(super) struct Unlink;

const INFO: Info = Info {
    name: "unlink",
    title: "files: create and remove, in one folder",
    operation: "a file that is created, closed and removed in a folder that all share",
    source: "will-it-scale: unlink1",
    default: Kind::Processes,
    only: None,
    keeps_core: false,
    hidden: false,
};

impl Benchmark for Unlink {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn prepare(&self, resources: &mut Resources<'_>) -> Result<Shared, Refusal> {
        Ok(Shared { folder: Some(resources.folder(0)?), ..Shared::default() })
    }

    fn task(&self, shared: &Shared, seat: &Seat) -> Result<Box<dyn Task>, Refusal> {
        let path = shared.folder()?.join(format!("file-{}", seat.index));
        let path = sys::c_path(&path)?;
        // A task of an earlier sample that was killed may have left the file.
        // SAFETY: the path is a C string.
        if unsafe { libc::unlink(path.as_ptr()) } != 0 && sys::last_error() != libc::ENOENT {
            return Err(Refusal::last("unlink"));
        }
        Ok(Box::new(Removing { path }))
    }
}

struct Removing {
    path: CString,
}

impl Task for Removing {
    fn run(&mut self, operations: u64) -> Result<(), Refusal> {
        const NEW: i32 = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
        for _ in 0..operations {
            // SAFETY: the path is a C string.
            let fd = check("open", unsafe { libc::open(self.path.as_ptr(), NEW, 0o600) })?;
            // SAFETY: the descriptor was just opened and belongs to nobody else.
            check("close", unsafe { libc::close(fd) })?;
            // SAFETY: the path is a C string.
            check("unlink", unsafe { libc::unlink(self.path.as_ptr()) })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_left_is_no_obstacle() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file-3"), "left").unwrap();
        let shared = Shared { folder: Some(folder.path().to_owned()), ..Shared::default() };
        let seat = Seat { index: 3, kind: Kind::Processes, cpus: Vec::new() };
        Unlink.task(&shared, &seat).unwrap().run(2).unwrap();
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }
}
