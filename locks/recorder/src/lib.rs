//! Running a program under the measuring library, watching it from outside, and making a profile
//! of what it left behind.
//!
//! The program keeps its standard input, output and error, its signals and its exit status. The
//! commands `kilocore measure` and `kilocore doctor` call [`measure`].
//!
//! # Decisions
//! The measuring library sees pthread locks and nothing else. So the program is also looked at from
//! outside while it runs (`outside/`), which says of each process whether it could be recorded.
//!
//! * **Three signs tell which processes belong to the program**: their parents, the environment
//!   that asks for the recording, and the adoption of orphans. Without the third, a daemon with a
//!   closed environment would be lost. Adopted children are waited for at once, because programs
//!   ask whether their daemons are still there.
//! * **Looking takes at most half a hundredth of a core.** The period follows from what the last
//!   rounds cost. Half of it is random, so that it does not keep step with a program's own timers.
//!   If there are many threads, they are sampled.
//! * **Words of futexes are compared with recorded locks while the program runs**, not only
//!   afterwards, because many programs destroy their locks before they end.
//! * **A stretch of time is a difference.** Everything in a recording only grows. So a delay, a
//!   duration or a signal needs nothing of the recorder: the profile is what the recording holds at
//!   the end, less what it held at the beginning (`kilocore-lock-profile`: `snapshot.rs`,
//!   `interval.rs`).
//! * **Signals are held back until the profile is written**, because `timeout` and terminals send
//!   them to every process, and to some of them twice.

mod beside;
mod clock;
mod conduct;
mod error;
mod events;
mod host;
mod limits;
mod measure;
mod outside;
mod preload;
mod recordings;
mod sees;
mod shortage;
mod trace;
mod watch;
mod watching;

pub use conduct::{Conduct, Measured};
pub use error::MeasureError;
pub use host::host;
pub use kilocore_lock_watcher::{Kin, WatchError};
pub use measure::{Options, measure, measure_as};
pub use preload::measuring;
pub use sees::{Unseen, unseen_by_preload};
pub use shortage::Shortage;
pub use trace::{TraceError, can_trace, trace};
pub use watching::{can_watch, measure_running, measure_watching};
