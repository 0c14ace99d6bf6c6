//! `open` and `open-apart`: opening and closing a file of the task's own, in a folder that all
//! tasks share or each in its own.
//!
//! To find a name, the kernel changes the reference counts of the folders on the way. If all files
//! are in one folder, all tasks change the count of that folder. If each has a folder of its own,
//! tasks share only the folders above.

use std::ffi::CString;

use crate::resources::task_file;
use crate::sys::{self, check};
use crate::{Benchmark, Info, Kind, Refusal, Resources, Seat, Shared, Task};

/// All files are in one folder.
pub(super) struct Together;

const TOGETHER: Info = Info {
    name: "open",
    title: "files: open and close, in one folder",
    operation: "an open and a close of a file of the task's own in a folder that all share",
    source: "will-it-scale: open1; Boyd-Wickizer and others 2010",
    default: Kind::Processes,
    only: None,
    keeps_core: true,
    hidden: false,
};

/// Each file is in a folder of its own.
pub(super) struct Apart;

const APART: Info = Info {
    name: "open-apart",
    title: "files: open and close, in several folders",
    operation: "an open and a close of a file of the task's own in a folder of its own",
    source: "will-it-scale: open2",
    default: Kind::Processes,
    only: None,
    keeps_core: true,
    hidden: false,
};

impl Benchmark for Together {
    fn info(&self) -> &'static Info {
        &TOGETHER
    }

    fn prepare(&self, resources: &mut Resources<'_>) -> Result<Shared, Refusal> {
        Ok(Shared { folder: Some(resources.folder(0)?), ..Shared::default() })
    }

    fn task(&self, shared: &Shared, seat: &Seat) -> Result<Box<dyn Task>, Refusal> {
        Opening::boxed(&shared.folder()?.join(format!("file-{}", seat.index)))
    }
}

impl Benchmark for Apart {
    fn info(&self) -> &'static Info {
        &APART
    }

    fn prepare(&self, resources: &mut Resources<'_>) -> Result<Shared, Refusal> {
        let folder = resources.folder(0)?;
        for task in 0..resources.tasks() {
            std::fs::create_dir(folder.join(task.to_string()))
                .map_err(|error| Refusal::of("mkdir", &error))?;
        }
        Ok(Shared { folder: Some(folder), ..Shared::default() })
    }

    fn task(&self, shared: &Shared, seat: &Seat) -> Result<Box<dyn Task>, Refusal> {
        Opening::boxed(&shared.folder()?.join(seat.index.to_string()).join("file"))
    }
}

struct Opening {
    path: CString,
}

impl Opening {
    fn boxed(path: &std::path::Path) -> Result<Box<dyn Task>, Refusal> {
        task_file(path)?;
        Ok(Box::new(Self { path: sys::c_path(path)? }))
    }
}

impl Task for Opening {
    fn run(&mut self, operations: u64) -> Result<(), Refusal> {
        for _ in 0..operations {
            // SAFETY: the path is a C string.
            let fd = check("open", unsafe {
                libc::open(self.path.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC)
            })?;
            // SAFETY: the descriptor was just opened and belongs to nobody else.
            check("close", unsafe { libc::close(fd) })?;
        }
        Ok(())
    }
}
