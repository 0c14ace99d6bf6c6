//! How a result is shown: charts, tables and pages, in files and on the terminal.
//!
//! # What it makes
//! - [`Study`]: whatever was simulated or measured at several points. It says what its points, charts
//!   and tables are ([`Points`], [`Lines`], [`Table`]), and is a report by that.
//! - [`Report`]: a result as an HTML page, an SVG chart, CSV rows, a JSON document and Markdown. A page
//!   needs no network and, for all that matters, no JavaScript: charts are inline SVG with a title on
//!   every point, the choice of curves and axes is plain form controls and style rules; a script adds
//!   sorting, copying and quicker hover values.
//! - [`write()`]: any of these into a file, by its ending, whole or not at all.
//! - [`markdown`]: tables in Markdown, and documents of which the tables are written anew.
//! - [`CurveSet`](curve_set::CurveSet) and [`Chart`](chart::Chart): throughput of several locks
//!   against cores, with bands, and the parts that pages of them share ([`page_parts`]).
//! - [`Table`] and [`terminal`]: tables as plain text.
//!
//! # What it promises
//! Every chart and table carries a mark that says whether its figures were measured, simulated,
//! published or estimated, and of what ([`Provenance`]). Text from elsewhere (function names, call
//! sites) is foreign: control characters are replaced before it is shown anywhere ([`text`]), and the
//! templates escape whatever they insert.
//!
//! # Why there is no charting library in it
//! Those that write SVG without a browser draw shapes and text; none found gives each point a
//! title, each line a class for style rules, dashes and markers besides colours, and a text
//! alternative. What a line chart needs beyond that is small: scales and ticks ([`scale`]) and a
//! template.

pub mod alike;
pub mod chart;
pub mod curve_set;
mod described;
pub mod drawn;
mod encode;
mod error;
mod folded;
mod format;
mod lines;
mod machine;
mod mark;
pub mod markdown;
pub mod number;
pub mod page_parts;
mod parameter;
mod points;
mod quantity;
pub mod scale;
pub mod shell;
mod study;
mod table;
pub mod terminal;
pub mod text;

pub use kilocore_figures::{Provenance, Unit};
pub use kilocore_output_file::write_whole;

pub use described::{described, topology_line};
pub use encode::in_json;
pub use error::ReportError;
pub use folded::folded_frame;
pub use format::{Format, Generated, Report, write};
pub use lines::{Across, Line, Lines};
pub use machine::{FigureGroup, FigureRow, Machine};
pub use mark::Mark;
pub use parameter::Parameter;
pub use points::{Cell, Column, Points, PointsBuilder};
pub use quantity::{Band, Quantity};
pub use study::{About, Host, Study};
pub use table::{Headings, Table};
pub use text::printable_document;
