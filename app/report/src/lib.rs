//! Forecasts and simulated curves for people, in files and on the terminal.
//!
//! # What it makes
//! - [`Report::html`]: one HTML page that needs no network and, for all that matters, no
//!   JavaScript. Charts are inline SVG with a title on every point, the choice of locks and axes is
//!   plain form controls and style rules; a script adds sorting, copying and quicker hover values.
//! - [`Report::svg`]: the chart of throughput alone. [`Report::csv`]: every point.
//!   [`Report::json`]: everything.
//! - [`write()`]: any of these into a file, by its ending, whole or not at all.
//! - [`Lines`] and [`LinesReport`]: the chart, and the page, of an experiment that is not about locks.
//! - [`waits_page`]: where a program's threads spent their time, and who waited for whom.
//! - [`terminal`]: the tables that the command line prints.
//!
//! # What it promises
//! Every chart and table carries a mark that says whether its figures were measured, simulated,
//! published or estimated, and of what ([`Provenance`]). Text from the program under study
//! (function names, call sites) is foreign: control characters are replaced before it is shown
//! anywhere, and the templates escape whatever they insert.
//!
//! # Why there is no charting library in it
//! Those that write SVG without a browser draw shapes and text; none found gives each point a
//! title, each line a class for style rules, dashes and markers besides colours, and a text
//! alternative. What a line chart needs beyond that is small: scales and ticks ([`scale`]) and a
//! template.

mod alike;
mod chart;
mod chart_file;
mod curve_set;
mod drawn;
mod encode;
mod error;
mod figures;
mod fit_page;
mod fit_words;
mod flame;
mod format;
mod lines;
mod lines_page;
mod locate_page;
mod locate_words;
pub mod number;
mod page;
mod page_parts;
mod program;
mod provenance;
mod quantity;
pub mod scale;
mod source;
mod spreadsheet;
pub mod terminal;
mod text;
mod waits_graph;
mod waits_page;
mod waits_parts;
mod waits_words;

pub use encode::{in_csv, in_json};
pub use error::ReportError;
pub use format::{Format, Report, write, write_whole};
pub use lines::{Across, Line, Lines};
pub use lines_page::{Assumption, Host, LinesReport, Table};
pub use locate_page::LocateReport;
pub use provenance::{Mark, Provenance};
pub use source::{CurvesReport, FitReport, ForecastReport, Generated};
pub use text::printable_document;
pub use waits_page::waits_page;
