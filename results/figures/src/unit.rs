//! What figures are counted in.

/// What figures are counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// They are no figures: names.
    Name,
    /// Whether something is so.
    Flag,
    /// How many there are of something.
    Count,
    /// From 0 to 100.
    Percent,
    /// From 0 to 1.
    Share,
    /// How many times as large it is as another figure.
    Ratio,
    /// Cycles of a core.
    Cycles,
    /// Nanoseconds (ns).
    Nanoseconds,
    /// Seconds (s).
    Seconds,
    /// How many in a second: a rate.
    PerSecond,
    /// Millions of bytes in a second.
    MegabytesPerSecond,
    /// Bytes, never multiples such as KiB.
    Bytes,
    /// Watts (W).
    Watts,
    /// Joules (J).
    Joules,
    /// What the name of the figure says, and nobody knows else.
    AsNamed,
}

impl Unit {
    /// Returns what stands beside figures of this unit, such as `ns`.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Unit::Name => "name",
            Unit::Flag => "true or false",
            Unit::Count => "count",
            Unit::Percent => "%",
            Unit::Share => "share, from 0 to 1",
            Unit::Ratio => "ratio",
            Unit::Cycles => "cycles",
            Unit::Nanoseconds => "ns",
            Unit::Seconds => "s",
            Unit::PerSecond => "per second",
            Unit::MegabytesPerSecond => "MB per second",
            Unit::Bytes => "bytes",
            Unit::Watts => "W",
            Unit::Joules => "J",
            Unit::AsNamed => "as its name says",
        }
    }
}
