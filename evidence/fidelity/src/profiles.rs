//! Setting C: forecasts from profiles that were measured on another machine.
//!
//! The forecasts, their comparison and the text are those of the crate `kilocore-end-to-end`.

use std::path::Path;

use kilocore_end_to_end::{
    Comparison, compare, constant_verdicts, gain_errors_file, markdown, simulations,
};

use crate::summary::Share;

/// What forecasts from profiles come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FromProfiles {
    /// The section of the page, from its first paragraph on.
    pub section: String,
    /// Of the programs on machines that get a verdict, those whose is that of the measurement.
    pub right_verdicts: Share,
    /// The best of the answers that are the same for all, and in how many cases it is right.
    pub constant_verdict: (&'static str, Share),
    /// What `kilocore-predict` keeps of it: how far gains were off, by lock.
    pub gain_errors: String,
}

/// Whether there are profiles under `data`.
fn present(data: &Path) -> bool {
    data.join("profiles").is_dir()
}

/// How many simulations [`forecast`] runs.
///
/// # Errors
/// As [`forecast`].
pub fn steps(data: &Path) -> Result<u64, String> {
    if !present(data) {
        return Ok(0);
    }
    simulations(data).map(|steps| steps as u64).map_err(|e| e.to_string())
}

/// Forecasts from all profiles under `data`; none if there are none. `progress` is called after
/// each simulation, from any thread.
///
/// # Errors
/// What is wrong with a profile, with its file.
pub fn forecast(
    data: &Path,
    seed: u64,
    progress: &(dyn Fn() + Sync),
) -> Result<Option<FromProfiles>, String> {
    if !present(data) {
        return Ok(None);
    }
    let comparisons = compare(data, seed, progress).map_err(|e| e.to_string())?;
    let of = comparisons.iter().filter(|comparison| comparison.commits).count();
    let constant = constant_verdicts(&comparisons).max_by_key(|(_, right)| *right);
    let constant_verdict = constant.map_or(("none", Share { having: 0, of }), |(shape, having)| {
        (shape.name(), Share { having, of })
    });
    Ok(Some(FromProfiles {
        section: markdown(&comparisons).trim_end().to_owned(),
        right_verdicts: Share::count(
            comparisons.iter().filter(|c| c.commits).map(Comparison::verdict_is_right),
        ),
        constant_verdict,
        gain_errors: gain_errors_file(&comparisons)
            .ok_or("no profile stands for a measured program")?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_profiles_there_is_no_section() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        assert_eq!(steps(folder.path()), Ok(0));
        assert_eq!(forecast(folder.path(), 1, &|| ()), Ok(None));
    }
}
