//! Pages that are copied to the memory of who reads them: when, and what that brings.
//!
//! # Source
//! JongWoo Lee, Yookun Cho: *Page Replication Mechanism using Adjustable DELAY Counter in NUMA
//! Multiprocessors*, 1996. A simulated bus with up to 32 processors without caches, each with a memory,
//! and four SPLASH programs. Its figure 5 shows the normalized average memory access cost (NAMC) against
//! the initial delay from 1 to 1,000,000, for fixed and adjustable delays, and figure 6 that at 1,000. The
//! figures are lost. What the text says of them is in [`claims`].
//!
//! # What is simulated
//! The programs are those of [`crate::numa_programs`]. They run on simulated processors, whose memory is
//! that of `kilocore-placement` under one of its policies. So what a reference costs decides when the
//! next one happens, as in the paper. References can also be made up from shares and locality.
//!
//! # What the paper leaves open
//! `kilocore-placement` says it, and the defaults. One thing is said here: time. The paper's daemon runs
//! every 3 s, of a clock that it does not name. A run's references last 1.4 to 183 million cycles for a
//! processor if each of them is local or each is remote, so at 100 MHz it would never run. The period is
//! in cycles here, a million if nothing else is said. Only references take time.

mod claims;
mod replay;
mod run;
mod sweep;

pub use claims::{Claims, Mix, claims};
pub use replay::{Replay, ReplayError};
pub use run::{Job, Load, NumaError, Point, simulate};
pub use sweep::{DELAYS, delayed, jobs, sweep};
