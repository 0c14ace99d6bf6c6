//! Figures in sentences.

use std::time::Duration;

use kilocore_show::number;

/// So many of something: `1 core`, `2 cores`.
pub(crate) fn number_of(count: u32, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// A duration as tables show it: `16.2 ms`.
pub(crate) fn duration(time: Duration) -> String {
    number::nanoseconds(time.as_secs_f64() * 1e9)
}
