//! Hit ratios of page lists, beside that of exact LRU.
//!
//! Lists that many cores can write through give up pages in another order than one list does, and so does
//! every other way to share a cache. This says what that costs or gains: one thread plays made traces
//! ([`trace`]) against a cache over each of the lists ([`cache`]) and against exact LRU ([`exact`]). All is
//! determined by a seed. `make hit-ratios` writes the tables of `docs/evidence/lru-hit-ratios.md`.

pub mod cache;
pub mod contender;
pub mod exact;
pub mod page;
pub mod ratio;
pub mod trace;
pub mod zipf;
