//! Tables for the terminal.
//!
//! Plain text, so that the same serves a terminal, a pipe and a log. Every function takes a
//! [`Style`](kilocore_show::terminal::Style): the width of a line in columns, and whether characters
//! beyond ASCII are shown. A width alone does for one.

pub(crate) mod fit;
pub(crate) mod forecast;
pub(crate) mod measured;
pub(crate) mod profile;
mod times;
mod traced;

pub use fit::fit_table;
pub use forecast::{curves_table, forecast_table};
pub use profile::profile_table;
pub use times::times_table;
