//! Pages that are still in some cache: which free page an allocation gets, and how long it takes to
//! initialize it.
//!
//! # Source
//! Seokwoo Yang, Sunhyeon Noh, Seongsoo Hong: *Improved Cache-hot Page Allocation Technique for Reducing Page
//! Initialization Latency of Linux Based Systems*. The machine is an i7-6700 under Linux 4.18.10, and the load
//! a browser that runs Basemark Web 3.0. Published are two ratios to the unchanged kernel: 7 % less latency, and
//! 1 % more time to allocate and release.
//!
//! # What is simulated
//! The policies of `kilocore-pages` run on the simulated machine. A page is 64 lines with states in its caches,
//! so how long it takes to initialize it depends on where these are. Loads are recorded traces of real programs
//! ([`Load::Trace`]), or cores that hand pages to each other, in any number ([`Pattern`]).
//!
//! A trace says which pages a program took and gave back, and not what it did with them in between. That is
//! left to two parameters ([`Setting`]), and `docs/evidence/pages.md` shows how the results depend on them.

mod document;
mod handing;
mod meter;
mod policy;
mod replay;
mod results;
mod run;
mod setting;
mod study;
mod sweep;
mod tables;
mod world;

pub use handing::Pattern;
pub use kilocore_pages::Policy;
pub use meter::Shares;
pub use results::{Plan, Results, Subject};
pub use run::{Job, Load, PagesError, Point, RunLength, simulate};
pub use setting::Setting;
pub use sweep::sweep;
