//! What no figure has more of. Tables come from programs that may have gone wrong.

/// The longest table that is read, in bytes.
pub const MOST_BYTES: u64 = 64 << 20;
/// The most rows that a figure takes.
pub const MOST_ROWS: usize = 5_000_000;
/// The most points of a figure.
pub const MOST_POINTS: usize = 50_000;
/// The most lines of a figure.
pub const MOST_LINES: usize = 200;
/// The most charts of a figure.
pub const MOST_CHARTS: usize = 100;
/// The longest value of which there is a line or a chart, in bytes.
pub const MOST_NAME: usize = 200;
