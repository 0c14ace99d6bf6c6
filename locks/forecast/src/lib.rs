//! Forecasts of how a program scales under each lock.
//!
//! # The steps of a forecast
//! 1. A [`Workload`] says what threads do: think, choose a lock, hold it, touch data that moves
//!    from holder to holder. A workload is given by hand or made from a profile.
//! 2. [`simulate`] runs it on a simulated machine with the lock code that ships.
//! 3. Closed forms ([`closed_form`]) check the simulator where their assumptions hold.
//!
//! # What limits a program besides its locks
//! These limits are simulated, too. Only one thing is calculated instead: how much of the data a
//! cache holds.
//!
//! * **Memory** (`memory.rs`). Lines are fetched while the thread computes. They come from each
//!   thread's own node, from all nodes in turn, or from the node that the main thread filled. Lines
//!   are found in the last-level cache as far as a thread's part of the data fits into its share of
//!   that cache.
//! * **The kernel and the C library** (`any_lock.rs`, `locks::Rwsem`). Some of their locks stay
//!   what they are, whatever lock is tried. An example is the read-write semaphore of an address
//!   space, which page faults share.
//! * **Barriers** (`barrier.rs`). Rounds of the same work are divided among the threads. Each round
//!   ends with a barrier that is made of the lock under test, a count, and a condition variable.
//! * **More threads than cores** (`progress.rs`). Such a point lasts for a number of time slices,
//!   but ends when its simulation has cost some tens of milliseconds. The error of its throughput
//!   says what that leaves open.
//!
//! # From a profile to a workload
//! A profile becomes what each thread does over and over. The thread thinks, perhaps sleeps, and
//! enters an outermost section, and inside this section the sections that the profile has seen
//! there.
//!
//! * **Locks made at the same place are treated as one lock with several instances.** The number of
//!   instances is chosen so that equally used instances would collide as often as the profiled
//!   locks did. It is the inverse of the sum of squared shares. Locks that are used much more than the
//!   others are a class of their own (`unequal.rs`): the most used one limits a program.
//! * **Locks that threads try again and again are polled** (`polling.rs`). How often tries fail says how soon the
//!   next one comes.
//! * **Durations keep the shape of their histograms**, including the rare and long ones, because a
//!   few of these may hold all the work. Simulations then count work as it is done (`simulate.rs`).
//! * **Processor time says how much was work** (`busy.rs`). Thinking, holding and what lies outside
//!   both add up to the processor time, less what the simulation adds anew: the locks' own
//!   operations and moving lines. Older profiles measured holds by the clock alone. If their holds
//!   exceed the processor time, the excess is taken off the longest holds.
//! * **Unused cores make a part serial** (`conduct.rs`): one thread computes while the others
//!   cannot. But other causes explain unused cores first, namely waiting for locks or on
//!   conditions, sleep, and unequal parts of rounds. A program that leaves a single core idle tells
//!   nothing. The time of a serial part is added to that of the simulated rest, because serial
//!   parts are few and long.
//! * **Barriers make rounds** (`phases.rs`). This applies to the C library's barriers, and to
//!   conditions that are broadcast once for all threads. Rounds have the same work however many
//!   threads divide it. If the waits at a barrier last about as long each time, they are for
//!   something serial; otherwise they are for unequal parts. Long rounds are simulated apart from
//!   the sections in them.
//! * **Lines that move with a lock** are estimated by `kilocore-lock-profile`. It takes how much
//!   longer sections last on several cores than confined to one, and divides this by the host's
//!   core-to-core latency and by the share of handovers between cores. The time of these lines is
//!   taken off the measured hold. It comes back, at the target's price, as lines that the simulated
//!   holder writes.
//! * **Sleep** between sections counts only as far as the cores were idle. With more threads than
//!   cores, part of the time in which threads did not run was spent waiting for a core.
//!
//! # From a workload to advice
//! A forecast point runs one thread for each core. The advice names the lock whose operations take
//! most of the threads' time at the largest number of cores. It then looks at all algorithms that
//! end within 15 % of the highest throughput, because profiles of one program differ by as much.
//! Among these it prefers algorithms whose waiters sleep, and among them the one whose forecasts
//! have erred least. It names the others as equals.
//!
//! * **Only what the answer needs is simulated** (`contest.rs`), unless all is asked for. The program as it
//!   is comes first. Where it spends next to no time on locks, no other lock is simulated. Otherwise all
//!   locks are compared on the largest number of cores, and only those that the advice speaks of get
//!   curves. What is left out is decided by simulated figures, never by a clock, so that the same
//!   question has the same answer on every host.
//! * **Points come from a source** (`job.rs`), which may have kept what was simulated before
//!   ([`PointSource`](kilocore_points::PointSource)). The answer is the same, byte for byte.
//! * **The band** comes from three simulations, with the lower, likely and upper number of lines,
//!   and from the simulation's own chance.
//! * **Read-write locks** run `CentralRw` under every choice of mutex, because `run --lock` leaves
//!   them to glibc. The traffic of `CentralRw` is that of glibc's read-write lock.
//! * **What-ifs change the program, not the lock** (`change.rs`, `what_if.rs`). The locks that cost most are
//!   held for half as long, split, shared by readers or given to each thread; barriers and the serial part
//!   are halved. There are none without advice, as a forecast that disagrees with what was measured says
//!   nothing of a changed program either.
//! * **Other read-write locks are a second choice** (`second_choice.rs`). First a mutex is chosen.
//!   If the program's read-write locks then cost a hundredth of the threads' time, each lock of
//!   `run --rwlock` is simulated in their place, beside that mutex. Trying all pairs would take
//!   many times as long, and a program is hardly ever limited by both kinds at once. No published
//!   program was measured under other read-write locks. So the gain comes without an error, and the
//!   advice says that nobody knows how far it is off.
//! * **A verdict needs evidence and coverage** (`evidence.rs`, `coverage.rs`). Below thresholds of
//!   work, threads and acquisitions there is no verdict. The verdict that locks do not matter has
//!   two conditions: the recorder saw every program, and what it saw explains nine tenths of the
//!   sleep in calls that wait for locks. One thread of each process is assumed to wait for the end
//!   of the others. Sleep in other calls is not due to locks. Spinning at a lock of the program's
//!   own cannot be told from computing, so a program that is busy without pthread locks gets the
//!   verdict *unknown*.
//! * **Threads may take turns** (`conduct.rs`). Suppose that nearly a third of the cores for which
//!   there were threads was unused, and that threads waited on conditions instead. Then one thread
//!   ran and the others waited for it. That part is forecast as serial, and the verdict is that
//!   more cores would be unused. Otherwise the waits on conditions are taken as the reason why
//!   cores were unused, and no serial part follows from them; published measurements support this.
//!   If the cores were used although threads spent more than half of their time on conditions, it
//!   is open what more cores would do, and the answer says so.
//! * **Locks of the kernel are a verdict of their own** (`kernel_locks.rs`). No forecast has them, and
//!   `run` does not replace them. But the account of the threads' time says how long threads wait for them
//!   and where, and what such a lock protects (`kernel_subject.rs`) says what to do next.
//! * **A serial part is bounded by what was seen from outside**: the share of the looks that found
//!   only one thread running or ready to run. Processor time cannot tell a core that nobody wanted
//!   from one that another program had. The difference matters: a percent of serial computing is a
//!   third of the throughput on 48 cores.
//! * **A second hardware thread is not worth a core** when a curve is judged ([`curve_on`]). A
//!   program that gains from it only what a second hardware thread can add still counts as scaling.
//! * **How far gains err is data** (`gain_error.rs`). The errors are listed by lock. They come from
//!   the published measurements, and `make fidelity` writes them.
//! * **What locks did for other programs is data, too** (`published_gain.rs`). The chance of a gain goes by
//!   both.
//! * **What `run` leaves alone stays what it is** under every lock (`own_locks.rs`), so that no
//!   gain is forecast that nobody can have.

mod advice;
mod affordable;
mod any_lock;
mod any_rw_lock;
mod as_many_as_threads;
mod barrier;
mod candidate;
mod change;
mod choice;
pub mod closed_form;
mod contest;
mod coverage;
mod duration;
mod emulated;
mod evidence;
pub mod fit;
mod forecast;
mod forecast_gain;
mod forecast_lock;
mod from_profile;
mod gain_error;
mod job;
mod measured_here;
mod memory;
mod model_error;
mod own_locks;
mod pieces;
mod point;
mod program;
mod progress;
mod published_gain;
mod question;
mod run_size;
mod second_choice;
mod simulate;
mod surroundings;
mod tried_lock;
mod uncounted;
mod verdict;
mod waiting;
mod what_if;
mod words;
mod workload;

pub use advice::{what_was_seen, with_emulation, with_trial};
pub use barrier::{BarrierRounds, simulate_barrier};
pub use change::{Change, READ_ONLY, WhatIf};
pub use choice::is_worth_a_change;
pub use coverage::{Coverage, Sleep, UnrecordedPrograms};
pub use duration::{Duration, Range};
pub use emulated::{EmulatedPoint, EmulatedThere};
pub use evidence::{Evidence, FEW_ACQUISITIONS};
pub use forecast::{
    Curve, Forecast, ForecastPoint, Recommendation, Target, WithoutCurve, curve_on,
};
pub use forecast_gain::ForecastGain;
pub use forecast_lock::{AcquiredAt, ForecastLock, LinesSource};
pub use from_profile::{
    Conduct, ProcessorTime, ProfileGap, Profiled, from_profile, place_of, taker_of,
};
pub use gain_error::{Gain, GainError};
pub use job::PointJob;
pub use measured_here::{ForecastHere, MeasuredHere};
pub use memory::{MemoryUse, Placement};
pub use point::Point;
pub use program::{forecast, forecast_profiled};
pub use published_gain::PublishedGain;
pub use question::{Extent, Question, TODAY};
pub use run_size::{PointError, RunSize};
pub use simulate::simulate;
pub use tried_lock::TriedLock;
pub use verdict::Verdict;
pub use what_if::what_if;
pub use workload::{Barriers, Hot, Inner, KeptLock, LockUse, Mode, Section, Workload};
