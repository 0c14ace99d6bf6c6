//! Running a program under the measuring library, watching it from outside, and making a profile
//! of what it left behind.
//!
//! The program keeps its standard input, output and error, its signals and its exit status. The
//! commands `kilocore measure` and `kilocore doctor` call [`measure`].

mod clock;
mod conduct;
mod error;
mod events;
mod host;
mod measure;
mod outside;
mod preload;
mod recordings;
mod shortage;
mod watch;

pub use conduct::{Conduct, Measured};
pub use error::MeasureError;
pub use host::host;
pub use measure::{Options, measure, measure_as};
pub use shortage::Shortage;
