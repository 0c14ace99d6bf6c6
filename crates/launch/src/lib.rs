//! Running a program under the measuring library, and making a profile of what it left behind.
//!
//! The program keeps its standard input, output and error, its signals and its exit status;
//! [`measure`] is what `kilocore measure` and `kilocore doctor` do with it.

mod clock;
mod host;
mod measure;
mod preload;

pub use host::host;
pub use measure::{MeasureError, Options, measure, measure_telling};
