//! Everything that does not depend on the policy, and where it comes from.

use kilocore_machine::Description;
use kilocore_platform::Cycles;
use kilocore_show::Parameter;

/// Everything that does not depend on the policy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// What the kernel does to allocate a page, besides its lists and free runs.
    pub allocate: Cycles,
    /// What it does to release one.
    pub release: Cycles,
    /// The pages of other memory that the program goes through for each page that it allocates. They are
    /// never in a cache, and push others out.
    pub other_pages: f64,
    /// The share of released pages that the program has used right before, from 0 to 1.
    pub used_before_release: f64,
    /// The frames of the machine's memory, by which kernels size their lists.
    pub memory_frames: u32,
}

/// An allocation of a page by Linux on one core, in nanoseconds: LLFree, ATC 2023.
const PUBLISHED_ALLOCATION_NS: f64 = 94.0;
/// Of that, what the simulated lists and their refills take themselves.
const OF_THE_LISTS_NS: f64 = 14.0;

impl Setting {
    /// Returns the setting on a machine.
    #[must_use]
    pub fn of(machine: &Description) -> Self {
        let other = (PUBLISHED_ALLOCATION_NS - OF_THE_LISTS_NS) * machine.clock_ghz.value;
        let other = Cycles(other.round() as u64);
        Self {
            allocate: other,
            release: other,
            other_pages: 1.0,
            used_before_release: 1.0,
            memory_frames: 1 << 21,
        }
    }

    /// Returns the parameters with their sources.
    #[must_use]
    pub fn parameters(&self) -> Vec<Parameter> {
        let parameter = |name, value, source| Parameter::new(name, value, source);
        vec![
            parameter(
                "other work to allocate or to release a page",
                format!("{} cycles", self.allocate.0),
                "published: 94 ns for an allocation in Linux on one core (LLFree, ATC 2023), less what the simulated lists take; a release is taken to take as long",
            ),
            parameter(
                "other memory that the program goes through for each page",
                format!("{} pages", self.other_pages),
                "see docs/evidence/pages.md",
            ),
            parameter(
                "released pages that the program has used right before",
                format!("{:.0} %", self.used_before_release * 100.0),
                "what makes lists of released pages useful at all; see docs/evidence/pages.md",
            ),
            parameter(
                "the machine's memory",
                format!("{} GiB", self.memory_frames >> 18),
                "published: 8 GB",
            ),
        ]
    }
}
