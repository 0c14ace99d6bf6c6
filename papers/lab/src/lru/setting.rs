//! Everything that does not depend on the variant, and where it comes from.
//!
//! Times of kernel code are those of a server's core, in cycles. Another machine takes as many times
//! more as its context switch does, by its machine file. That is 2.6 times more for the Knights
//! Landing: its cores are narrow.
//!
//! One parameter is calibrated: the kernel's work under the lists' lock, [`Setting::under_lock`].
//! `docs/evidence/lru.md` says how. The others were chosen before anything was simulated.

use kilocore_machine::Description;
use kilocore_platform::Cycles;
use kilocore_show::Parameter;

/// Everything that does not depend on the variant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// How many times as long as a server's core this machine's takes for kernel code, in cycles.
    pub slower: f64,
    /// Work on a page that is written, besides the lists, the page allocator and the copy.
    pub write: Cycles,
    /// Work on a page that is read from the cache, besides the copy and the note that it was used.
    pub read: Cycles,
    /// Work on a page under the lock of its list, besides the changes of links and words.
    pub under_lock: Cycles,
    /// Work on a frame under the lock of the page allocator's zone, besides the fetch of its
    /// descriptor.
    pub in_zone: Cycles,
    /// The time in which a batch is sorted, where the variant does that.
    pub sort: Cycles,
    /// Frames of a batch.
    pub batch: u32,
}

/// The same of a server's core, in cycles.
const SWITCH: f64 = 3000.0;
const WRITE: f64 = 2500.0;
const READ: f64 = 400.0;
const UNDER_LOCK: f64 = 50.0;
const IN_ZONE: f64 = 35.0;
const SORT: f64 = 250.0;

impl Setting {
    /// Returns the setting on a machine.
    #[must_use]
    pub fn of(machine: &Description) -> Self {
        let switch = machine.os.context_switch_ns.value * machine.clock_ghz.value;
        let slower = switch / SWITCH;
        let cycles = |of_server: f64| Cycles((of_server * slower).round() as u64);
        Self {
            slower,
            write: cycles(WRITE),
            read: cycles(READ),
            under_lock: cycles(UNDER_LOCK),
            in_zone: cycles(IN_ZONE),
            sort: cycles(SORT),
            batch: 15,
        }
    }

    /// Returns the parameters with their sources.
    #[must_use]
    pub fn parameters(&self) -> Vec<Parameter> {
        let cycles = |cycles: Cycles| format!("{} cycles", cycles.0);
        let parameter = |name, value, source| Parameter::new(name, value, source);
        vec![
            parameter(
                "kernel code, against a server's core",
                format!("{:.2} times as many cycles", self.slower),
                "the machine file's context switch, over the 3,000 cycles of xeon-gold-6338-1s",
            ),
            parameter(
                "work on a page that is written",
                cycles(self.write),
                "measured: 1.21 µs for a new page of a file in tmpfs, in writes of 256 KiB, best of 5 on one core of a virtual machine at 2.6 GHz, less 0.25 µs for the copy: 2,500 cycles of a server's core",
            ),
            parameter(
                "work on a page that is read",
                cycles(self.read),
                "measured likewise: 0.38 µs to write a page of tmpfs that is in the cache, less the copy: some 400 cycles",
            ),
            parameter(
                "work under the lists' lock for each page",
                cycles(self.under_lock),
                "calibrated: the stock kernel's published shape on the Xeon Phi 7210, no other variant's",
            ),
            parameter(
                "work under the page allocator's lock for each frame",
                format!("{}, and the fetch of its descriptor", cycles(self.in_zone)),
                "published: with 26 cores of a server, 984 ns for an allocation in Linux (LLFree, ATC 2023), which is 38 ns for each; half of it taken as the fetch, four at a time",
            ),
            parameter(
                "frames for a core's list at a time",
                super::memory::REFILL.to_string(),
                "Linux's batch for a zone of a gibibyte and more",
            ),
            parameter(
                "sorting a batch",
                cycles(self.sort),
                "a guess: some sixty comparisons of a server's core",
            ),
            parameter(
                "frames of a batch",
                self.batch.to_string(),
                "Linux until 2024; the paper says 16, which is the size of the array with its header",
            ),
            parameter(
                "the copy of a page",
                "64 lines fetched and 64 written back, ten at a time".to_owned(),
                "the caller's buffer stays in its cache; bandwidth and latency as in the machine file",
            ),
        ]
    }
}
