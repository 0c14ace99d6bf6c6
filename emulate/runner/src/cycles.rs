//! How it is known how many cycles an instruction takes.

/// How it is known how many cycles an instruction takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CyclesFrom {
    /// It is the same for all programs.
    Estimated,
    /// Somebody said so.
    Given,
    /// From the time of the program on a core of this host.
    Measured,
}

impl CyclesFrom {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Estimated => "estimated, the same for all programs",
            Self::Given => "given",
            Self::Measured => "measured, of this program on one core of this host",
        }
    }
}
