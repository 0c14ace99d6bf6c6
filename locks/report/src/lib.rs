//! Forecasts, fits and profiles of locks, for people: in files and on the terminal.
//!
//! - [`ForecastReport`], [`CurvesReport`] and [`FitReport`]: throughput under each lock against cores.
//! - [`ProfileComparisonReport`]: two profiles of a program, before and after a change.
//! - [`VariantsReport`]: measured variants of a program, without a simulation.
//! - [`waits_page`]: where a program's threads spent their time, and who waited for whom.
//! - [`terminal`]: the tables that the command line prints.
//!
//! How charts, tables and pages are made is [`kilocore_show`]'s.

mod chart_file;
mod comparison;
mod fit_page;
mod fit_words;
mod formats;
mod locks;
mod markdown;
mod marks;
mod measured_page;
mod measured_words;
mod page;
mod program;
mod quantities;
mod source;
mod spreadsheet;
pub mod terminal;
mod variants;
mod waits_graph;
mod waits_page;
mod waits_parts;
mod waits_words;
mod what_if;
mod without_curve;

pub use comparison::ProfileComparisonReport;
pub use source::{CurvesReport, FitReport, ForecastReport};
pub use variants::VariantsReport;
pub use waits_page::waits_page;
