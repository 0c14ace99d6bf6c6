//! Applies a scheduling policy to unmodified programs that run, and puts everything back.
//!
//! # The idea
//! * **Tasks** are the threads of the steered programs and of all that they start. Each window they
//!   are listed anew ([`Tree`]).
//! * **Metrics** come from what the machine offers ([`Meter`]): the scheduler's own times, samples
//!   whose code is a spin loop, looks at threads that sleep for a lock, the kernel's records of waits for
//!   its own locks, if the policy decides by them, hardware counters ([`CounterSource`]), and, if asked for, what the measuring library counts in
//!   programs that are started with it ([`recordings_folder`]).
//! * **A policy** of `kilocore-sched-policy` decides, and its orders become affinities ([`Daemon`]) or
//!   cgroups with cpusets ([`Control`]).
//! * **Everything is put back** ([`restore`](restore())), whatever ends the daemon. Before an order is given, a
//!   [`Journal`] says what was there. A [`Guardian`], a process of its own, reads it if the daemon dies.
//!   If both die, the next daemon finds the journal ([`restore_orphans`]).
//!
//! # What cannot be told
//! A thread inherits the affinity of its creator. Who that is, the kernel's records tell, where this user may have
//! them; else, a new thread whose mask is one that was ordered for its program is taken to have inherited it, unless
//! threads of the program choose masks themselves: then it is left as it is, and told. If a confined thread
//! chooses exactly the mask that it was given, this is not seen. Where cgroups carry orders out, membership
//! tells.
//!
//! # Decisions
//! * **A guardian puts everything back.** Before the first order, the daemon starts a process in a
//!   session of its own, which holds the end of a pipe, and writes a journal before each order. If
//!   the pipe ends without a word, the guardian puts back what the journal says. If both are
//!   killed, the next `kilocore steer` finds the journal, whose owner is gone. Only masks that are
//!   still ours are put back.
//! * **A journal is believed by its descriptor, its lock and its form** (`places.rs`, `orphans.rs`,
//!   `ours.rs`), because what it says is done with the rights of whoever reads it: root's lie in
//!   `/run/kilocore` only, nothing is opened by path after it was looked at, and what is removed
//!   has a name of ours in a place of ours. A lock that ends with the daemon says that it lives,
//!   also to who sees it from another PID namespace, which the header names.
//! * **A new thread's allowance is its creator's** if its mask is one that was ordered for that
//!   one: Linux lets threads inherit what their creator is confined to. The kernel's records tell
//!   who that was (`births.rs`, `lineage.rs`): perf events, of each core or else of each thread at
//!   the start, which are inherited. Where there are none, a mask that was ordered for a program
//!   counts as inherited only while none of its threads is seen to choose masks; else it is left
//!   and told. Programs that `sched` starts have it as the parent of their orphans.
//! * **A cgroup's parent is the home of its threads** (`--control cpuset`). There is one child for
//!   each set of cores below each cgroup that threads began in, so a path in the journal says where
//!   all of them go. Membership tells who is ours, also of threads that are born there. While a
//!   thread is in a cpuset, it cannot ask for cores outside: the kernel refuses with `EINVAL`.
//!   Kernels before 6.2 forget what it asked for before, and there masks are set again from the
//!   journal. If something cannot be put back, the journal stays for `--restore`. Version 2 was run
//!   against a played kernel only.
//! * **Spinning is seen in samples**, by what the code at the sampled address does
//!   (`kilocore_symbols::spin_loops`). That needs neither counters of the hardware nor a library in the
//!   program, and finds locks that a compiler has inlined. What holds a lock and what takes it at
//!   once must not look like waiting: an exchange that follows a loop is not counted.
//! * **Programs without contention are watched loosely** (`pace.rs`): after five windows in which
//!   waiting is at most 1 % of the threads' time, a quarter of the samples and one look a window
//!   are taken, until somebody waits or is confined. The price is up to a window before contention
//!   that begins is seen.
//! * **Who draws never holds the daemon up.** The live view (`--watch`) has a thread of its own,
//!   and takes snapshots from a channel. If the terminal is slow, snapshots are left out.
//! * **Counters count for threads, four in a group** (`hardware.rs`), and only for policies that
//!   decide by them, because programs pay for them at each switch. What neighbours asked for
//!   meanwhile is an estimate: what was counted on other cores of the same last-level cache, times
//!   the thread's share of time on its core. Where there are none, such policies are refused, and
//!   the kernel's answer tells why.
//! * **What the library in a program counts is asked for by name** (`--metrics preload`), and
//!   `auto` does without it. On this host, a pair of lock and unlock of a free mutex takes 2.7 ns
//!   without the daemon, with `proc` and with `auto`, and 21 ns with the library (medians of 7
//!   interleaved runs, one thread). So it makes a program dearer that may have no contention at
//!   all, and only pthread locks of dynamically linked programs are seen. Who chooses it gets
//!   acquisitions, by which policies compare numbers of cores better than by time on cores, and all
//!   waits, however short.
//! * **What resctrl tells is for people** (`resctrl.rs`): where it is mounted, all steered programs
//!   are one monitored group, and the summary, `--json` and `--watch` say how much they have in
//!   last-level caches and how much they transfer. Policies decide by single tasks, which would
//!   take a group each, of which processors have a few dozen to a few hundred. The group is in the
//!   journal like the rest. No machine with resctrl was at hand: it is tested with files that play
//!   it.
//! * **Tracepoints are asked for by name as well** (`--metrics tracepoints`, `futexes.rs`): the
//!   kernel's records of who enters and leaves a futex are exact, but each wait pays for two. Four
//!   threads that fight for a mutex on two cores (32 lines in tools/sched/contended.c) got 2.43
//!   million acquisitions a second alone, and under `fair`, which orders nothing, 2.39 with `auto`,
//!   2.03 with `tracepoints` and 1.98 with `preload` (medians of 5 interleaved runs of 3 seconds),
//!   so `auto` looks into `/proc`. A window with lost records is left to looks. Condition variables
//!   are no locks to them either.
//! * **Waits for the kernel's own locks are taken wherever they are to be had** (`kernel_locks.rs`,
//!   `contention.rs`, `contention_events.rs`), also with `auto`, since who steers a program need not know
//!   beforehand which locks it fights for. They are no part of `tracepoints`: an ordinary user may trace the
//!   system calls of his own threads, but these places only with `CAP_PERFMON`, and kernels before 5.19 have
//!   no such places. So `kernel` is a name of its own, which insists on them as `perf` does on samples. Whoever
//!   may see them may see whole cores. So there are two events a core, which add nothing to switches, and the
//!   kernel itself counts down how many records it may still make (`PERF_EVENT_IOC_REFRESH`): two thousand
//!   waits a second on a core, whatever a program does. What is recorded of each fifth of a window stands for
//!   the rest of it.
//! * **No wait counts twice.** A wait that lies within another one belongs to that. What lies within a
//!   futex (the lock of its bucket, the run queue of a core) is left out, as the futex's sleep is seen in other
//!   ways. A thread sleeps for the kernel's locks for no longer than it neither ran, nor had no core, nor slept
//!   in a futex, and spins no longer than it ran in the kernel; that it spun there takes nothing from what it did otherwise.
//!   A read-write lock of the kernel is spun for before the kernel tells of it, which nobody sees.
//! * **A recording is read as it grows** (`recordings.rs`): its counts are words that only grow, so
//!   that a window is a difference, and there is nothing to lock. It knows no threads and no waits
//!   under way, so looks and samples go on, and of each lock the larger of both counts
//!   (`waits.rs`). What was recorded beyond what was seen is spread over the threads of the process
//!   by how long each could have waited. Of spinning, only samples know how much of it was on a
//!   core, so they say how long it was, and the recording for which locks. A word in a recorded
//!   lock is a lock whatever its value, and then sleeping through a whole window is waiting.
//! * **Acquisitions count only while they tell what a program does** (`coverage.rs`). Once its
//!   threads have waited longer for other locks than for recorded ones, they are left out for good.
//!   Nothing is said of the first three windows, as a recording knows waits only once they end. (At
//!   first, one window decided. A program whose four threads spin was then judged by time in every
//!   run, and held its best number of cores in a part of them.)
//! * **Time without waiting is a poor judge of spinning.** With four threads and one spin lock, it
//!   sees 0.15 to 0.2 useful cores on one core, where spinners wait for a holder that has no core,
//!   and 0.3 to 0.6 on both. But each section takes ten times as long there, so that the truth is
//!   the other way round by far. No sample tells that; counting does. So the summary says by what
//!   was judged. One thing is certain without: if more than one core spins on average, the locks
//!   are busy all the time and would be on one core less. Then all cores are not tried
//!   (`confinement.rs`), as in Dice's Malthusian locks.
//! * **The folder of recordings is in the journal** before it is made, so a guardian and
//!   `--restore` remove it like everything else, after a dry run, too. It has a name, as an
//!   unlinked one could not be written to by programs that start later. Whatever a journal says,
//!   only a folder with a name of that form that belongs to this user is removed.
//! * **Sleeping through a whole window is idleness**, not contention. A server without requests
//!   must not be confined.
#![warn(missing_docs)]

mod affinity;
mod births;
mod caches;
mod confinement;
mod contention;
mod contention_events;
mod control;
mod counted;
mod counters;
mod coverage;
mod cpu_list;
mod cpusets;
mod daemon;
mod descriptors;
mod error;
mod futexes;
mod group;
mod guardian;
mod hardware;
mod hierarchy;
mod hold;
mod homecoming;
mod host;
mod journal;
mod journal_name;
mod kernel_locks;
mod ledger;
mod lineage;
mod looks;
mod machine;
mod meter;
mod monitored_group;
mod named;
mod orphans;
mod ours;
mod outcome;
mod pace;
mod places;
#[cfg(test)]
mod played_cgroups;
mod recording_folder;
mod recordings;
mod resctrl;
mod restore;
mod snapshot;
mod spins;
mod stat;
mod sums;
mod tree;
mod waits;

pub use confinement::Confinement;
pub use control::Control;
pub use counters::{CounterSource, NoCounters, Reading};
pub use daemon::{Daemon, Options, Summary, check_control};
pub use error::{DaemonError, NoCpusets};
pub use guardian::{Guardian, guard};
pub use host::{Host, Linux};
pub use journal::Journal;
pub use kernel_locks::KernelLock;
pub use ledger::Ledger;
pub use machine::this_machine;
pub use meter::{Meter, Metrics};
pub use named::Named;
pub use orphans::{Orphan, restore_orphans, steered_by};
pub use outcome::Outcome;
pub use recording_folder::recordings_folder;
pub use resctrl::CacheUse;
pub use restore::restore;
pub use snapshot::{GroupView, Other, Snapshot};
pub use stat::Stat;
pub use tree::{Order, Thread, Tree};
