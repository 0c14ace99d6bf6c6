//! How far forecasts are from published measurements.
//!
//! # The way of a comparison
//! 1. [`data`] reads the published throughputs of real programs under many locks on two machines.
//! 2. [`split`] says which of them a forecast is given: three locks on few nodes. The rest is held
//!    back. The rule knows names and counts, never throughputs.
//! 3. [`run`] has a [`run::Forecaster`] say what the held-back points are, and asks two
//!    [`baseline`]s the same.
//! 4. [`score`] compares: relative errors, the point of collapse, what the choice of a lock costs,
//!    and whether the band holds the measurement. [`summary`] takes scores together.
//! 5. [`profiles`] forecasts the same programs from profiles measured here, and compares. [`published`] says how
//!    locks did for other programs.
//! 6. [`page`] writes `docs/evidence/fidelity.md` and its plots; [`terminal`] prints the same figures
//!    tersely; [`dump`] gives out every point.
//!
//! Nothing here depends on time or on the host: the same forecaster gives the same bytes.
//!
//! # When forecasts change
//! `make fidelity` compares forecasts with published measurements and writes `docs/evidence/fidelity.md` and its
//! plots. Commit them with the change that moved them. While you work on the change,
//! `target/release/kilocore-fidelity --machine I48 --program vips --setting A` shows a part in the
//! terminal. `--json FILE` keeps every point of a run, and `--before FILE` shows the errors of a run
//! that was kept beside the new ones. Explanations go into `docs/evidence/fidelity-notes.toml`.

pub mod bars;
pub mod baseline;
pub mod before;
pub mod data;
pub mod dump;
pub mod notes;
pub mod page;
pub mod plots;
pub mod profiles;
pub mod published;
pub mod run;
#[cfg(test)]
mod sample;
pub mod score;
pub mod split;
pub mod summary;
mod tables;
pub mod terminal;
mod written;
