//! Forecasts of how a program scales under each lock.
//!
//! # The steps of a forecast
//! 1. A [`Workload`] says what threads do: think, choose a lock, hold it, touch data that moves
//!    from holder to holder. A workload is given by hand or made from a profile.
//! 2. [`simulate`] runs it on a simulated machine with the lock code that ships.
//! 3. Closed forms ([`closed_form`]) check the simulator where their assumptions hold.

mod advice;
mod affordable;
mod any_lock;
mod any_rw_lock;
mod barrier;
mod choice;
pub mod closed_form;
mod coverage;
mod duration;
mod evidence;
mod forecast;
mod forecast_lock;
mod from_profile;
mod gain_error;
mod memory;
mod model_error;
mod own_locks;
mod point;
mod program;
mod progress;
mod run_size;
mod second_choice;
mod simulate;
mod sweep;
mod uncounted;
mod verdict;
mod waiting;
mod words;
mod workload;

pub use advice::what_was_seen;
pub use barrier::{BarrierRounds, simulate_barrier};
pub use choice::WORTH_TAKING;
pub use coverage::{Coverage, Sleep, Unseen};
pub use duration::{Duration, Range};
pub use evidence::Evidence;
pub use forecast::{Curve, Forecast, ForecastPoint, Recommendation, Target, curve_on};
pub use forecast_lock::{AcquiredAt, ForecastLock, LinesSource};
pub use from_profile::{
    Conduct, ProcessorTime, ProfileGap, Profiled, from_profile, place_of, taker_of,
};
pub use gain_error::{Gain, GainError};
pub use memory::{MemoryUse, Placement};
pub use point::Point;
pub use program::{
    ForecastError, Question, TODAY, forecast, forecast_profiled, without_simulation,
};
pub use run_size::{PointError, RunSize};
pub use simulate::simulate;
pub use sweep::{Job, sweep};
pub use verdict::Verdict;
pub use workload::{Barriers, Inner, KeptLock, LockUse, Mode, Section, Workload};
