//! `thread`: making a thread that ends at once, and waiting for its end.
//!
//! The C library maps a stack for the thread or takes one that it has kept. The kernel enters the
//! thread into the process's list of threads. Tasks that are threads share all of this.

use libc::c_void;

use crate::{Benchmark, Info, Kind, Refusal, Seat, Shared, Task};

pub(super) struct Thread;

const INFO: Info = Info {
    name: "thread",
    title: "threads: create and join",
    operation: "a thread that is made, ends and is joined",
    source: "will-it-scale: pthread_create",
    default: Kind::Threads,
    only: None,
    keeps_core: false,
    hidden: false,
};

impl Benchmark for Thread {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn task(&self, _shared: &Shared, _seat: &Seat) -> Result<Box<dyn Task>, Refusal> {
        Ok(Box::new(Creating))
    }
}

struct Creating;

extern "C" fn nothing(_: *mut c_void) -> *mut c_void {
    core::ptr::null_mut()
}

impl Task for Creating {
    fn run(&mut self, operations: u64) -> Result<(), Refusal> {
        let refuse = |call, error| Refusal::of(call, &std::io::Error::from_raw_os_error(error));
        for _ in 0..operations {
            let mut thread = 0;
            // SAFETY: `thread` is valid to be written, and the thread's function touches no memory.
            let error = unsafe {
                let (attributes, argument) = (core::ptr::null(), core::ptr::null_mut());
                libc::pthread_create(&raw mut thread, attributes, nothing, argument)
            };
            if error != 0 {
                return Err(refuse("pthread_create", error));
            }
            // SAFETY: the thread was just made, and is joined only here.
            let error = unsafe { libc::pthread_join(thread, core::ptr::null_mut()) };
            if error != 0 {
                return Err(refuse("pthread_join", error));
            }
        }
        Ok(())
    }
}
