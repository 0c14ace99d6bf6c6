//! Where the threads' time went: what the windows saw, as the events of an account.
//!
//! Who holds a lock is known only when it is known what the writes to its word mean, which takes
//! several windows. So the events are kept, and told when the session is over. The same goes for
//! those who give others work (`wakers.rs`).

use std::collections::{BTreeMap, BTreeSet};

use crate::word_names::Names;
use kilocore_lock_profile::thread_account as time;
use kilocore_lock_profile::thread_account::{
    Account, Event, EventKind, ThreadId, ThreadTimes, WordKind,
};
use syscalls::Sysno;

use crate::calls::Reason;
use crate::contention::KernelWaits;
use crate::document::Named;
use crate::family::Family;
use crate::ids::{Moment, Pid, Tid, Word};
use crate::ledger::Ledger;
use crate::model::{Model, Turn, taken_and_given_back};
use crate::off_core::{Off, Why};
use crate::spins::Spin;
use crate::spun::SpinAddresses;
use crate::wakers::{wakings, writers};
use crate::watched::Watched;
use crate::window::{SwitchKind, Window};

/// So many events are kept; what comes after them is left out of the account.
const MOST_EVENTS: usize = 2_000_000;

/// A window, as far as the account needs it.
#[derive(Debug)]
struct KeptWindow {
    begin: Moment,
    end: Moment,
    events: Vec<Event>,
    quiet: Vec<(Tid, Option<Reason>)>,
    /// Whether one of them that ran would have been found by a timer.
    timed: bool,
    /// Whether the events tell who woke whom, and of the kernel's locks.
    traced: bool,
}

/// The windows so far.
#[derive(Debug, Default)]
pub(crate) struct Times {
    windows: Vec<KeptWindow>,
    events: usize,
    kernel_waits: KernelWaits,
    spun: SpinAddresses,
}

/// The words that several threads try to take, in so many of the window's samples that few of them can be
/// tries that succeed.
///
/// A turn of a loop that tries to take a lock looks the same whether it is got at once or not. But to get
/// it at once takes some ten nanoseconds, which is a small part of what a thread does with the lock, and
/// without it.
fn fought_for(window: &Window, spins: &[Option<Spin>]) -> BTreeSet<Word> {
    /// The share of the samples of threads in the program's own code.
    const OFTEN: f64 = 0.25;
    /// Fewer samples say nothing.
    const FEWEST: usize = 4;
    let user = window.ticks.iter().filter(|tick| !tick.kernel).count();
    let mut found: BTreeMap<Word, Vec<Tid>> = BTreeMap::new();
    for (tick, spin) in window.ticks.iter().zip(spins) {
        if let Some(word) = spin.filter(|spin| !spin.waits).and_then(|spin| spin.word) {
            found.entry(word).or_default().push(tick.tid);
        }
    }
    let several = |threads: &[Tid]| threads.iter().any(|tid| *tid != threads[0]);
    let often =
        |threads: &[Tid]| threads.len() >= FEWEST && threads.len() as f64 >= OFTEN * user as f64;
    found.retain(|_, threads| often(threads) && several(threads));
    found.into_keys().collect()
}

impl Times {
    /// Keeps a window, with what the threads spun for that its ticks found. If it was `timed`, a thread
    /// without an event had no core, whatever the system says of it.
    pub(crate) fn keep(
        &mut self,
        (window, spins): (&Window, &[Option<Spin>]),
        off: &[Off],
        quiet: &[(Tid, Option<Reason>)],
        timed: bool,
    ) {
        if self.events > MOST_EVENTS {
            return;
        }
        let mut events: Vec<Event> = off
            .iter()
            .filter(|stretch| stretch.from > window.begin || stretch.why != Why::Unknown)
            .map(|stretch| {
                let why = why(stretch.why, window.traced);
                event(stretch.from, stretch.tid, EventKind::Out(why))
            })
            .collect();
        let switched_in = |switch: &&crate::window::Switch| switch.what == SwitchKind::In;
        let switches = window.switches.iter().filter(switched_in);
        events.extend(switches.map(|switch| event(switch.at, switch.tid, EventKind::In)));
        // Hits of watchpoints are time in the kernel that the program would not spend there.
        let ticks = window.ticks.iter().zip(spins).filter(|_| window.watched.is_empty());
        let fought_for = fought_for(window, spins);
        for (tick, spin) in ticks {
            let fights = |word: &Word| fought_for.contains(word);
            let spins =
                spin.is_some_and(|spin| spin.waits || spin.word.as_ref().is_some_and(fights));
            events.push(event(tick.at, tick.tid, EventKind::Tick { kernel: tick.kernel, spins }));
            if let Some(registers) = tick.registers.filter(|_| spins) {
                self.spun.add(tick.pid, tick.tid, registers.ip());
            }
        }
        events.extend(window.wakings.iter().map(|waking| {
            let by = waking.by.map(|by| ThreadId(by.0));
            event(waking.at, waking.tid, EventKind::Waking { by })
        }));
        for wait in &window.contentions {
            events.push(event(wait.from, wait.tid, EventKind::ContentionBegins));
            if wait.to < window.end {
                events.push(event(wait.to, wait.tid, EventKind::ContentionEnds));
            }
            self.kernel_waits.add(wait);
        }
        self.events += events.len();
        let quiet = quiet.to_vec();
        let (begin, end, traced) = (window.begin, window.end, window.traced);
        self.windows.push(KeptWindow { begin, end, events, quiet, timed, traced });
    }

    /// The account of all windows, of a program that may use so many cores. `words` says what each
    /// word is, `functions` what threads do, and `names` where they spun.
    pub(crate) fn account(
        self,
        cores: u32,
        family: &Family,
        ledger: &Ledger,
        words: &BTreeMap<Word, Named>,
        functions: &BTreeMap<Tid, String>,
        names: &mut BTreeMap<Pid, Names>,
    ) -> Option<ThreadTimes> {
        if self.windows.is_empty() {
            return None;
        }
        let (watched, aliases) = (&ledger.watched, &ledger.aliases);
        let mut holders = holders(watched, words);
        let mut writers = writers(watched, words);
        let mut account = Account::new();
        account.on_cores(cores);
        if self.windows.iter().all(|kept| kept.traced) {
            account.kernel_locks(self.kernel_waits.told());
        }
        account.spins(self.spun.told(names));
        for kept in self.windows {
            account.begin_window(time::Nanoseconds(kept.begin.0));
            let taken = holders.remove(&kept.begin).unwrap_or_default();
            let writers = writers.remove(&kept.begin).filter(|_| !kept.traced);
            if let Some(writers) = writers {
                wakings(&kept.events, &writers).for_each(|event| account.take(&event));
            }
            let events = kept.events.into_iter().map(|event| of_lock(event, aliases));
            events.chain(taken).for_each(|event| account.take(&event));
            for (tid, reason) in kept.quiet {
                // What it waits for began before the window, so no event tells of it.
                let reason = reason.map(|reason| why(Why::Waits(reason), false));
                let reason = reason.map(|reason| lock_of(reason, aliases));
                let reason = reason.or(kept.timed.then_some(time::Reason::Preempted));
                account.quiet(ThreadId(tid.0), reason);
            }
            account.end_window(time::Nanoseconds(kept.end.0));
        }
        let threads: Vec<time::Thread> = family
            .names
            .iter()
            .map(|(tid, (pid, name))| time::Thread {
                id: ThreadId(tid.0),
                process: pid.0,
                name: name.clone(),
                function: functions.get(tid).cloned(),
                main: tid.0 == pid.0,
            })
            .collect();
        let known = |word: time::Word| {
            let pid = Pid(word.space);
            words.get(&Word { pid, address: word.address })
        };
        let kind = |word| known(word).map_or(WordKind::Unknown, |named| named.kind);
        let name = |word| known(word).map_or_else(String::new, |named| named.name.clone());
        Some(account.finish(&threads, &kind, &name))
    }
}

/// Who took and gave back which lock, by the window in which that was.
fn holders(
    watched: &BTreeMap<Word, Watched>,
    words: &BTreeMap<Word, Named>,
) -> BTreeMap<Moment, Vec<Event>> {
    let mut all: BTreeMap<Moment, Vec<Event>> = BTreeMap::new();
    for (word, watched) in watched {
        let model = words.get(word).map_or(Model::Unknown, |named| named.model);
        // Where only some threads were watched, the holder may be another.
        for watch in watched.windows.iter().filter(|watch| !watch.few) {
            let of = time::Word { space: word.pid.0, address: word.address };
            let events = taken_and_given_back(&watch.history.operations, model);
            let told = |(at, tid, taken)| {
                let what = match taken {
                    Turn::Acquired => EventKind::Acquired(of),
                    Turn::Released => EventKind::Released(of),
                };
                event(at, tid, what)
            };
            all.entry(watch.begin).or_default().extend(events.into_iter().map(told));
        }
    }
    all
}

/// The same with the lock's own word.
fn of_lock(event: Event, aliases: &BTreeMap<Word, Word>) -> Event {
    match event.what {
        EventKind::Out(reason) => Event { what: EventKind::Out(lock_of(reason, aliases)), ..event },
        _ => event,
    }
}

fn lock_of(reason: time::Reason, aliases: &BTreeMap<Word, Word>) -> time::Reason {
    let time::Reason::Futex(word) = reason else { return reason };
    let slept_on = Word { pid: Pid(word.space), address: word.address };
    let of = aliases.get(&slept_on).map_or(word.address, |of| of.address);
    time::Reason::Futex(time::Word { address: of, ..word })
}

fn event(at: Moment, tid: Tid, what: EventKind) -> Event {
    Event { at: time::Nanoseconds(at.0), thread: ThreadId(tid.0), what }
}

/// Where the kernel is traced, waits for its locks are events, and others are something else.
fn why(why: Why, traced: bool) -> time::Reason {
    match why {
        Why::Preempted => time::Reason::Preempted,
        Why::Unknown | Why::Waits(Reason::Unknown) => time::Reason::Unknown,
        Why::Waits(Reason::NoCall) => time::Reason::PageFault,
        Why::Waits(Reason::Join) => time::Reason::End,
        Why::Waits(Reason::Futex(word)) => {
            time::Reason::Futex(time::Word { space: word.pid.0, address: word.address })
        }
        Why::Waits(Reason::Call(call)) => match of_call(call) {
            time::Reason::KernelLock if traced => time::Reason::Other(call.name()),
            reason => reason,
        },
    }
}

/// What a thread in a system call waits for.
fn of_call(call: Sysno) -> time::Reason {
    match call {
        Sysno::nanosleep | Sysno::clock_nanosleep | Sysno::sched_yield => time::Reason::Sleep,
        Sysno::wait4 | Sysno::waitid => time::Reason::End,
        Sysno::mmap
        | Sysno::munmap
        | Sysno::mprotect
        | Sysno::madvise
        | Sysno::brk
        | Sysno::mremap => time::Reason::KernelLock,
        Sysno::read
        | Sysno::write
        | Sysno::pread64
        | Sysno::pwrite64
        | Sysno::readv
        | Sysno::writev
        | Sysno::recvfrom
        | Sysno::sendto
        | Sysno::recvmsg
        | Sysno::sendmsg
        | Sysno::accept
        | Sysno::accept4
        | Sysno::connect
        | Sysno::poll
        | Sysno::ppoll
        | Sysno::select
        | Sysno::pselect6
        | Sysno::epoll_wait
        | Sysno::epoll_pwait
        | Sysno::io_getevents
        | Sysno::io_uring_enter
        | Sysno::fsync
        | Sysno::fdatasync
        | Sysno::sync_file_range
        | Sysno::openat => time::Reason::Io(call.name()),
        other => time::Reason::Other(other.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::Tick;

    #[test]
    fn a_word_that_several_threads_try_for_in_many_samples_is_fought_for() {
        let word = Word { pid: Pid(1), address: 0x7000 };
        let tick = |tid| Tick {
            pid: Pid(1),
            tid: Tid(tid),
            at: Moment(0),
            kernel: false,
            registers: None,
            stack: Vec::new(),
        };
        // Of each thread, so many samples find it in a try, and as many as there are all.
        let found = |tries: &[(u32, usize)], all: usize| {
            let tids = tries.iter().flat_map(|(tid, count)| std::iter::repeat_n(*tid, *count));
            let spin = Some(Spin { word: Some(word), waits: false });
            let mut spins: Vec<Option<Spin>> = tids.clone().map(|_| spin).collect();
            let mut ticks: Vec<Tick> = tids.map(tick).collect();
            spins.resize(all, None);
            ticks.resize_with(all, || tick(9));
            fought_for(&Window { ticks, ..Window::default() }, &spins)
        };
        assert_eq!(found(&[(1, 3), (2, 2)], 10), BTreeSet::from([word]));
        assert!(found(&[(1, 5)], 10).is_empty(), "nobody is in its way");
        assert!(found(&[(1, 3), (2, 2)], 100).is_empty(), "mostly it gets it at once");
        assert!(found(&[(1, 2), (2, 1)], 4).is_empty(), "too few samples");
    }
}
