//! Which threads are the program's.
//!
//! A process counts if it executes the program, or if a process that counts has started it in any
//! way. Numbers of processes and threads are used again, so this needs the records in order of time.

use std::collections::{HashMap, HashSet};

use crate::Thread;

use crate::recorder::page_record::ThreadKey;

/// The program's processes and threads.
#[derive(Debug)]
pub(crate) struct Family {
    processes: HashSet<i32>,
    /// Those that had an event, by the kernel's number.
    threads: HashMap<i32, Thread>,
    numbered: u32,
    /// How many there have been.
    process_count: u32,
    thread_count: u32,
}

impl Family {
    /// Begins with the process that is about to execute the program.
    pub(crate) fn of(root: i32) -> Self {
        Self {
            processes: HashSet::from([root]),
            threads: HashMap::new(),
            numbered: 0,
            process_count: 1,
            thread_count: 1,
        }
    }

    /// A thread was started.
    pub(crate) fn started(&mut self, parent: ThreadKey, child: ThreadKey) {
        // Whoever had the number before has ended.
        self.threads.remove(&child.thread);
        if self.processes.contains(&parent.process) {
            self.thread_count += 1;
            if child.process != parent.process {
                self.process_count += 1;
                self.processes.insert(child.process);
            }
        } else if child.process == child.thread {
            self.processes.remove(&child.process);
        }
    }

    /// The thread's number, if it is the program's.
    pub(crate) fn member(&mut self, who: ThreadKey) -> Option<Thread> {
        if !self.processes.contains(&who.process) {
            return None;
        }
        Some(*self.threads.entry(who.thread).or_insert_with(|| {
            self.numbered += 1;
            Thread(self.numbered)
        }))
    }

    pub(crate) fn processes(&self) -> u32 {
        self.process_count
    }

    pub(crate) fn threads(&self) -> u32 {
        self.thread_count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn who(process: i32, thread: i32) -> ThreadKey {
        ThreadKey { process, thread }
    }

    #[test]
    fn descendants_count_and_strangers_with_their_numbers_do_not() {
        let mut family = Family::of(5);
        assert_eq!(family.member(who(5, 5)), Some(Thread(1)));
        assert_eq!(family.member(who(6, 6)), None);
        family.started(who(5, 5), who(5, 7));
        family.started(who(5, 7), who(8, 8));
        assert_eq!(family.member(who(8, 8)), Some(Thread(2)));
        assert_eq!(family.member(who(5, 7)), Some(Thread(3)));
        assert_eq!(family.member(who(5, 5)), Some(Thread(1)));
        family.started(who(1, 1), who(8, 8));
        assert_eq!(family.member(who(8, 8)), None, "another has its number now");
        family.started(who(5, 5), who(5, 7));
        assert_eq!(family.member(who(5, 7)), Some(Thread(4)), "another thread with its number");
        assert_eq!((family.processes(), family.threads()), (2, 4));
    }
}
