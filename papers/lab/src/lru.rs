//! Parallel writes through a page cache: the experiments of the FinerLRU paper.
//!
//! Processes write or read a file each, as the benchmark IOR has them do with a file per process.
//! Every page that is written anew is added to the page cache's LRU lists ([`kilocore_lru`]), and in
//! Linux one lock is over all lists of a node's memory. The experiment compares ways to divide the
//! lists, each of which is a [`Variant`]. All the rest is a [`Setting`], which is the same for every
//! variant.
//!
//! # Where it departs from the paper
//! * The paper writes 8 GB. Here a window of some ten thousand pages is simulated, after as many
//!   that are not counted as it takes until all processes are out of step.
//! * Of what a write does besides the lists, the page allocator's lock and the memory's bandwidth
//!   are simulated. All else takes a time of its own in each process ([`Setting::parameters`]).
//! * The paper's figures are lost. [`Claims`] has what its text says.
//!
//! # Decisions
//! * *The lock is wrapped* in one that measures its acquisitions and does the kernel's other work
//!   under it, once for each frame (`meter.rs`). So the library has no hook for the simulation.
//! * *Processes know where they are in their batch*, because each has a hardware thread to itself.
//!   The wrapped lock finds out from that how many frames it is held for.
//! * *What else limits writes is simulated*: the lock of the page allocator's zone and the memory's
//!   bandwidth. Without work under the former, divided lists would be 4.5 times as fast as stock
//!   with 256 threads of the Knights Landing, where 2.4 are published.
//! * *Hits of the cache under the lock are slowed down by siblings* (`Sim::slow_down`), as
//!   computing is. The simulator does that for computing only, as most of what it simulates
//!   computes much more than it hits.
//!
//! # When the model of the kernel changes
//! `make lru` simulates the figures anew and writes the tables of `docs/evidence/lru.md`. The one free
//! parameter is
//! calibrated on the stock kernel's shape (`setting.rs`), with
//! `cargo run --release -p kilocore-lab --example calibrate-lru -- knl-7210 seq-write stock 1
//! 32,64,256 under_lock=130`.

mod claims;
mod folios;
mod memory;
mod meter;
mod pattern;
mod process;
mod run;
mod setting;
mod sweep;
mod variants;
mod window;

pub use claims::{Claims, claims};
pub use folios::{Folios, LARGEST_FOLIO};
pub use kilocore_lru::{FolioOrder, LARGEST_FACTOR};
pub use pattern::Pattern;
pub use run::{Job, LruError, Point, RunLength, simulate};
pub use setting::Setting;
pub use sweep::{jobs, sweep};
pub use variants::Variant;
