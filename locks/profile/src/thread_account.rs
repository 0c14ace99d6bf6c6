//! Where the threads' time went, and who waited for whom.
//!
//! The input is what a kernel can tell of threads in short windows: when each leaves its core and
//! why, when it gets one, who woke it, and who held the locks that were watched. The output is the
//! time that each role of thread spent in each activity, a graph of who waited for whom, and the
//! roles for whose work the others waited. Nothing here makes no system call.
//!
//! # The idea
//! *wPerf* (Zhou, Gan, Ma and Wang, OSDI 2018) shows that a thread which computes is a bottleneck
//! only as far as others wait for it, and that a wait for a waiting thread is a wait for whom that
//! thread waits for. At each moment the waiting threads form trees: each waits for one other, and
//! the roots wait for nobody. So the time of all waiters in a tree counts for its root.
//!
//! # What is not guessed
//! A window does not tell what came before it. A thread whose first event in a window is that it
//! gets a core was off its core for a reason that nobody saw. That stretch is unknown, unless the
//! caller says what the reason was ([`Account::quiet`]), or the window begins exactly where the
//! one before it ended. If it is not seen who woke a waiter, and the lock was not watched, then the
//! wait is for somebody unknown. It is not blamed on whoever ran at that time.
//!
//! # Example
//! ```
//! use kilocore_lock_profile::thread_account::*;
//!
//! let queue = Word { space: 7, address: 0x1000 };
//! let mut account = Account::new();
//! account.begin_window(Nanoseconds(0));
//! let (producer, consumer) = (ThreadId(7), ThreadId(8));
//! let events = [
//!     (10, consumer, EventKind::Out(Reason::Futex(queue))),
//!     (90, consumer, EventKind::Waking { by: Some(producer) }),
//!     (95, consumer, EventKind::In),
//! ];
//! for (at, thread, what) in events {
//!     account.take(&Event { at: Nanoseconds(at), thread, what });
//! }
//! account.quiet(producer, None);
//! account.end_window(Nanoseconds(100));
//! let thread = |id, name: &str, main| Thread {
//!     id,
//!     process: 7,
//!     name: name.to_owned(),
//!     function: None,
//!     main,
//! };
//! let threads = [thread(producer, "feed", true), thread(consumer, "eat-1", false)];
//! let times = account.finish(&threads, &|_| WordKind::Condition, &|_| "the queue".to_owned());
//! assert_eq!(times.roles[1].times.work, Nanoseconds(80));
//! assert_eq!(times.roles[1].times.ready, Nanoseconds(5));
//! assert_eq!(times.edges[0].to, kilocore_lock_profile::WaitedFor::Role(0));
//! ```

mod account;
mod book;
mod document;
mod event;
mod findings;
mod graph;
mod holders;
mod kept;
mod roles;
mod state;

pub use crate::{ThreadTimes, WordKind};
pub use account::{Account, WordWaits};
pub use event::{Event, EventKind, Reason, Thread, ThreadId, Word};
pub use findings::thresholds;
pub use kilocore_figures::Nanoseconds;
