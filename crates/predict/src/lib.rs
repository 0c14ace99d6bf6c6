//! Forecasts of how a program scales under each lock.
//!
//! # The way of a forecast
//! 1. A [`Workload`] says what threads do: think, choose a lock, hold it, touch data that moves
//!    from holder to holder. It is given by hand or made from a profile.
//! 2. [`simulate`] runs it on a simulated machine with the lock code that ships.
//! 3. Closed forms ([`closed_form`]) check the simulator inside their assumptions.

mod advice;
mod any_lock;
mod barrier;
pub mod closed_form;
mod duration;
mod forecast;
mod from_profile;
mod memory;
mod model_error;
mod point;
mod program;
mod progress;
mod simulate;
mod sweep;
mod workload;

pub use advice::shell_word;
pub use barrier::{BarrierRounds, simulate_barrier};
pub use duration::{Duration, Range};
pub use forecast::{Curve, Forecast, ForecastLock, ForecastPoint, Recommendation, Shape, Target};
pub use from_profile::{Conduct, ProcessorTime, ProfileGap, Profiled, from_profile};
pub use memory::{MemoryUse, Placement};
pub use point::Point;
pub use program::{ForecastError, Question, TODAY, forecast, forecast_profiled, without_locks};
pub use simulate::{PointError, RunSize, simulate};
pub use sweep::{Job, in_parallel, sweep};
pub use workload::{Barriers, Inner, KeptLock, LockUse, Mode, Section, Workload};
