//! Running a program under the measuring library, watching it from outside, and making a profile
//! of what it left behind.
//!
//! The program keeps its standard input, output and error, its signals and its exit status. The
//! commands `kilocore record locks` and `kilocore doctor` call [`measure`].

mod clock;
mod concurrent_watch;
mod conduct;
mod error;
mod events;
mod host;
mod interference;
mod limits;
mod load;
mod measure;
mod outside;
mod preload;
mod recordings;
mod sees;
mod shortage;
mod timed_work;
mod timing;
mod trace;
mod trial;
mod watch;
mod watching;
mod window_work;
mod windows;

/// Held by each test that starts programs: one that adopts orphans waits for the children of all.
#[cfg(test)]
static CHILDREN: std::sync::Mutex<()> = std::sync::Mutex::new(());

pub use conduct::{BeforeEnd, Conduct, Measured};
pub use error::MeasureError;
pub use host::host;
pub use kilocore_lock_watcher::{ProcessScope, WatchError};
pub use measure::{Options, measure, measure_as};
pub use preload::measuring;
pub use sees::{WhyUnseen, unseen_by_preload};
pub use shortage::Shortage;
pub use timed_work::TimedWork;
pub use timing::{Timing, time_on_cores};
pub use trace::{TraceError, can_trace, trace};
pub use trial::time_with_locks;
pub use watching::{can_watch, measure_running, measure_watching};
pub use windows::{Confinable, NotConfined, time_in_windows};
