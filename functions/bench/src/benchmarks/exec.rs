//! `exec`: making a process that executes another program, and waiting for its end.
//!
//! The program is the system's `true`. On most systems it is dynamically linked, so the operation
//! includes the loader's mapping of the C library, as does the start of nearly every program.

use std::ffi::CStr;

use super::fork::wait_for;
use crate::{Benchmark, Info, Kind, Refusal, Seat, Shared, Task};

pub(super) struct Exec;

const INFO: Info = Info {
    name: "exec",
    title: "processes: execute a program and wait",
    operation: "a process that executes the program true and is waited for",
    source: "lmbench: lat_proc exec",
    default: Kind::Processes,
    only: None,
    keeps_core: false,
    hidden: false,
};

/// The places where systems have the program `true`.
const PLACES: [&CStr; 3] = [c"/bin/true", c"/usr/bin/true", c"/run/current-system/sw/bin/true"];

impl Benchmark for Exec {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn task(&self, _shared: &Shared, _seat: &Seat) -> Result<Box<dyn Task>, Refusal> {
        // SAFETY: the path is a C string.
        let is_there = |path: &&CStr| unsafe { libc::access(path.as_ptr(), libc::X_OK) } == 0;
        let program = PLACES.into_iter().find(is_there);
        let program = program.ok_or_else(|| Refusal::last("executing /bin/true"))?;
        Ok(Box::new(Executing { program }))
    }
}

struct Executing {
    program: &'static CStr,
}

impl Task for Executing {
    fn run(&mut self, operations: u64) -> Result<(), Refusal> {
        let arguments = [self.program.as_ptr().cast_mut(), core::ptr::null_mut()];
        let environment = [core::ptr::null_mut()];
        for _ in 0..operations {
            let mut child = 0;
            // SAFETY: the program is a C string, both lists end in a null, and `child` is valid
            // to be written.
            let error = unsafe {
                libc::posix_spawn(
                    &raw mut child,
                    self.program.as_ptr(),
                    core::ptr::null(),
                    core::ptr::null(),
                    arguments.as_ptr(),
                    environment.as_ptr(),
                )
            };
            if error != 0 {
                return Err(Refusal::of("posix_spawn", &std::io::Error::from_raw_os_error(error)));
            }
            wait_for(child)?;
        }
        Ok(())
    }
}
