//! The kernel's own locks: from where waits begin and end to who waited how long, and where.

use std::collections::{BTreeMap, BTreeSet};

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{KernelLockKind, KernelLockWaits};
use kilocore_symbols::{
    KernelSymbols, LockWaiters, is_kernel_lock, is_kernel_lock_report, kernel_lock_name,
};

use crate::ids::{Moment, Pid, Tid};

/// So many different stacks are kept; waits with others have no place.
const MOST_STACKS: usize = 4096;
/// So many functions of a place are told.
const MOST_FUNCTIONS: usize = 8;
/// Addresses from here on are marks of the kernel in its stacks, and lie nowhere.
const MARKS: u64 = -4095_i64 as u64;

/// A thread begins to wait for a lock, or has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) at: Moment,
    pub(crate) pid: Pid,
    pub(crate) tid: Tid,
    pub(crate) lock: u64,
    /// Of which kind it is and the kernel's stack, innermost first, where the wait begins.
    pub(crate) begins: Option<(KernelLockKind, Vec<u64>)>,
}

/// A thread waited for a lock of the kernel, spinning or asleep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Contention {
    pub(crate) tid: Tid,
    pub(crate) from: Moment,
    /// Until when; the window's end, if it waits on.
    pub(crate) to: Moment,
    pub(crate) kind: KernelLockKind,
    pub(crate) stack: Vec<u64>,
    /// Who waited for the same lock in the same window.
    pub(crate) waiters: LockWaiters,
}

/// The waits of a window, in the order in which they begin. A mutex says that a wait begins each time
/// that somebody spins for it, and a thread that waits for one lock may have to wait for another
/// within. So a wait lasts until its thread has all locks that it waited for.
pub(crate) fn contentions(mut steps: Vec<Step>, end: Moment) -> Vec<Contention> {
    steps.sort_by_key(|step| (step.at, step.tid));
    let mut open: BTreeMap<Tid, (Contention, BTreeSet<u64>)> = BTreeMap::new();
    let mut all = Vec::new();
    let several = of_several_processes(&steps);
    for Step { at, tid, lock, begins, .. } in steps {
        match begins {
            Some((kind, stack)) => {
                let waiters = if several.contains(&lock) {
                    LockWaiters::OfSeveralProcesses
                } else {
                    LockWaiters::Unknown
                };
                let wait = || Contention { tid, from: at, to: end, kind, stack, waiters };
                open.entry(tid).or_insert_with(|| (wait(), BTreeSet::new())).1.insert(lock);
            }
            None => {
                let Some((_, locks)) = open.get_mut(&tid) else { continue };
                locks.remove(&lock);
                if locks.is_empty()
                    && let Some((wait, _)) = open.remove(&tid)
                {
                    all.push(Contention { to: at, ..wait });
                }
            }
        }
    }
    all.extend(open.into_values().map(|(wait, _)| wait));
    all.sort_by_key(|wait| (wait.from, wait.tid));
    all
}

/// The locks that threads of several processes wait for.
fn of_several_processes(steps: &[Step]) -> BTreeSet<u64> {
    let mut first: BTreeMap<u64, Pid> = BTreeMap::new();
    let waits = steps.iter().filter(|step| step.begins.is_some());
    waits
        .filter(|step| *first.entry(step.lock).or_insert(step.pid) != step.pid)
        .map(|step| step.lock)
        .collect()
}

/// Waits that are told as one, if the functions of their stacks are the same.
type Stacks = (KernelLockKind, LockWaiters, Vec<u64>);

/// The waits so far with one stack for locks of one kind.
#[derive(Debug, Default)]
struct Sum {
    waited: Nanoseconds,
    count: u64,
    threads: BTreeSet<Tid>,
}

/// The waits so far.
#[derive(Debug, Default)]
pub(crate) struct KernelWaits(BTreeMap<Stacks, Sum>);

impl KernelWaits {
    pub(crate) fn add(&mut self, wait: &Contention) {
        let full = self.0.len() >= MOST_STACKS;
        let key = (wait.kind, wait.waiters, wait.stack.clone());
        let full = full && !self.0.contains_key(&key);
        let key = if full { (wait.kind, LockWaiters::Unknown, Vec::new()) } else { key };
        let sum = self.0.entry(key).or_default();
        sum.waited += wait.to - wait.from;
        sum.count += 1;
        sum.threads.insert(wait.tid);
    }

    /// All of them by place in the kernel.
    pub(crate) fn told(self) -> Vec<KernelLockWaits> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let symbols = KernelSymbols::of_this_host().ok();
        let name = |address| Some(symbols.as_ref()?.function(address)?.name.to_owned());
        self.by_place(&name)
    }

    fn by_place(self, name: &dyn Fn(u64) -> Option<String>) -> Vec<KernelLockWaits> {
        let mut places: BTreeMap<(KernelLockKind, Vec<String>, &str), Sum> = BTreeMap::new();
        for ((kind, waiters, stack), mut sum) in self.0 {
            let functions = place(&stack, name);
            let lock = functions.first().and_then(|function| kernel_lock_name(function, waiters));
            let place = places.entry((kind, functions, lock.unwrap_or_default())).or_default();
            place.waited += sum.waited;
            place.count += sum.count;
            place.threads.append(&mut sum.threads);
        }
        let told = |((kind, functions, name), sum): ((KernelLockKind, Vec<String>, &str), Sum)| {
            let (threads, name) = (sum.threads.len() as u64, name.to_owned());
            KernelLockWaits { kind, name, functions, waited: sum.waited, count: sum.count, threads }
        };
        places.into_iter().map(told).collect()
    }
}

/// The functions from the one that acquires the lock, outwards to the one that does the system call
/// or handles the exception.
fn place(stack: &[u64], name: &dyn Fn(u64) -> Option<String>) -> Vec<String> {
    let names = stack.iter().filter(|address| **address < MARKS).map_while(|at| name(*at));
    let mut functions: Vec<String> = names
        .skip_while(|name| is_kernel_lock(name) || is_kernel_lock_report(name))
        .take_while(|name| !is_entrance(name))
        .collect();
    if let Some(entry) = functions.iter().position(|name| is_entry(name)) {
        functions.truncate(entry + 1);
    }
    if functions.len() > MOST_FUNCTIONS {
        functions.drain(MOST_FUNCTIONS / 2..functions.len() - MOST_FUNCTIONS / 2);
    }
    functions
}

/// Functions by which the kernel is entered for one purpose.
fn is_entry(function: &str) -> bool {
    function.contains("_sys_") && function.starts_with("__") || function == "exc_page_fault"
}

/// Functions by which the kernel is entered for anything.
fn is_entrance(function: &str) -> bool {
    let starts = ["do_syscall_", "x64_sys_call", "entry_", "asm_", "irqentry_", "ret_from_"];
    starts.iter().any(|start| function.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(at: u64, tid: u32, lock: u64, begins: bool) -> Step {
        let begins = begins.then(|| (KernelLockKind::Mutex, vec![lock]));
        Step { at: Moment(at), pid: Pid(tid / 10), tid: Tid(tid), lock, begins }
    }

    #[test]
    fn a_wait_lasts_from_its_first_beginning_until_its_thread_has_all_locks() {
        let steps = vec![
            step(10, 1, 7, true),
            // It spins again, and then for the spin lock within the mutex.
            step(20, 1, 7, true),
            step(25, 1, 8, true),
            step(30, 1, 8, false),
            step(40, 1, 7, false),
            step(15, 2, 7, true),
            // Nobody saw how this began.
            step(50, 3, 7, false),
        ];
        let waits = contentions(steps, Moment(100));
        let seen: Vec<_> =
            waits.iter().map(|wait| (wait.tid.0, wait.from.0, wait.to.0, &*wait.stack)).collect();
        assert_eq!(seen, [(1, 10, 40, &[7][..]), (2, 15, 100, &[7][..])]);
    }

    #[test]
    fn a_lock_that_several_processes_wait_for_is_no_process_s_own() {
        let dup = |address: u64| (address < 10).then(|| "dup_mmap".to_owned());
        let waits = |steps| {
            let mut waits = KernelWaits::default();
            contentions(steps, Moment(100)).iter().for_each(|wait| waits.add(wait));
            waits.by_place(&dup).into_iter().map(|one| (one.name, one.count)).collect::<Vec<_>>()
        };
        let either = || "mmap_lock or i_mmap_rwsem".to_owned();
        // Processes 1 and 2 at lock 7; two threads of process 3 at lock 8.
        let of_all = [step(10, 11, 7, true), step(20, 21, 7, true)];
        let of_one = [step(30, 31, 8, true), step(40, 32, 8, true)];
        assert_eq!(waits(of_all.to_vec()), [("i_mmap_rwsem".to_owned(), 2)]);
        assert_eq!(waits(of_one.to_vec()), [(either(), 2)]);
        // A lock that another process only releases in the window tells nothing.
        assert_eq!(waits(vec![step(10, 11, 7, true), step(20, 21, 7, false)]), [(either(), 1)]);
        let both: Vec<_> = of_all.into_iter().chain(of_one).collect();
        assert_eq!(waits(both), [("i_mmap_rwsem".to_owned(), 2), (either(), 2)]);
    }

    #[test]
    fn waits_are_summed_up_by_place_and_without_the_functions_of_locks() {
        let names = |address| {
            let known = [
                (1, "__traceiter_contention_begin"),
                (2, "rwsem_down_write_slowpath"),
                (3, "down_write_killable"),
                (4, "__vm_munmap"),
                (5, "__x64_sys_munmap"),
                (6, "do_syscall_64"),
                (7, "vm_mmap_pgoff"),
            ];
            known.iter().find(|(at, _)| *at == address).map(|(_, name)| (*name).to_owned())
        };
        let wait = |tid, ns: u64, stack: &[u64]| {
            let kind = KernelLockKind::Writing;
            let (from, to) = (Moment(1_000), Moment(1_000 + ns));
            let waiters = LockWaiters::Unknown;
            Contention { tid: Tid(tid), from, to, kind, stack: stack.to_vec(), waiters }
        };
        let mut waits = KernelWaits::default();
        waits.add(&wait(1, 10, &[MARKS + 7, 1, 2, 3, 4, 5, 6]));
        waits.add(&wait(2, 20, &[2, 4, 5]));
        waits.add(&wait(2, 30, &[]));
        waits.add(&wait(2, 40, &[7, 6]));
        let told = waits.by_place(&names);
        let told: Vec<_> = told
            .iter()
            .map(|one| (&*one.name, one.functions.join("<"), one.waited.0, one.count, one.threads))
            .collect();
        let [unmap, map] = ["__vm_munmap<__x64_sys_munmap", "vm_mmap_pgoff"].map(str::to_owned);
        let nowhere = ("", String::new(), 30, 1, 1);
        assert_eq!(told, [nowhere, ("mmap_lock", unmap, 30, 2, 2), ("mmap_lock", map, 40, 1, 1)]);
    }

    #[test]
    fn stacks_without_end_are_bounded() {
        let mut waits = KernelWaits::default();
        for at in 0..2 * MOST_STACKS as u64 {
            let (from, to) = (Moment(0), Moment(1));
            let kind = KernelLockKind::Spin;
            let waiters = LockWaiters::Unknown;
            waits.add(&Contention { tid: Tid(1), from, to, kind, stack: vec![at], waiters });
        }
        assert!(waits.0.len() <= MOST_STACKS + 1);
        assert_eq!(
            waits.0[&(KernelLockKind::Spin, LockWaiters::Unknown, Vec::new())].count,
            MOST_STACKS as u64
        );
    }
}
