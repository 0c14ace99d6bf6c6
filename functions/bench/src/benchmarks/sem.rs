//! `sem`: raising and lowering a System V semaphore.
//!
//! Each task has a semaphore set of its own. Tasks therefore share only what the kernel shares: the
//! table in which it looks up the sets.

use crate::sys::check;
use crate::{Benchmark, Info, Kind, Refusal, Resources, Seat, Shared, Task};

pub(super) struct Sem;

const INFO: Info = Info {
    name: "sem",
    title: "System V semaphores: raise and lower",
    operation: "a semop that raises and one that lowers a semaphore of the task's own",
    source: "Cui, Chen, Shi 2012: sembench",
    default: Kind::Processes,
    only: None,
    keeps_core: true,
    hidden: false,
};

impl Benchmark for Sem {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn prepare(&self, resources: &mut Resources<'_>) -> Result<Shared, Refusal> {
        let numbers = resources.semaphores(resources.tasks())?;
        Ok(Shared { numbers, ..Shared::default() })
    }

    fn task(&self, shared: &Shared, seat: &Seat) -> Result<Box<dyn Task>, Refusal> {
        Ok(Box::new(Raising { set: shared.number(seat)? }))
    }
}

struct Raising {
    set: i32,
}

impl Raising {
    #[inline]
    fn change(&self, by: i16) -> Result<(), Refusal> {
        let mut change = libc::sembuf { sem_num: 0, sem_op: by, sem_flg: 0 };
        // SAFETY: the pointer is to one change, which is valid for the whole call.
        check("semop", unsafe { libc::semop(self.set, &raw mut change, 1) }).map(drop)
    }
}

impl Task for Raising {
    fn run(&mut self, operations: u64) -> Result<(), Refusal> {
        for _ in 0..operations {
            self.change(1)?;
            self.change(-1)?;
        }
        Ok(())
    }
}
