//! Comparing two lock profiles of a program, before and after a change.

use std::path::Path;
use std::process::ExitCode;

use kilocore_command_line::reports;
use kilocore_command_line::{Failure, output};
use kilocore_lock_profile::{ChangeVerdict, Profile, ProfileComparison};
use kilocore_lock_report::ProfileComparisonReport;
use kilocore_show::Study;
use kilocore_show::terminal::wrapped;

use super::sampled::{ROWS, ResultOptions};

/// The exit status of a program that has become slower by more than is allowed.
const SLOWER: u8 = 1;

/// The exit status if the runs cannot tell.
const UNKNOWN: u8 = 3;

/// A percentage such as `5%` or `5`, as a share.
pub(super) fn share(text: &str) -> Result<f64, String> {
    super::bench::percent(text.strip_suffix('%').unwrap_or(text).trim_end())
        .map(|percent| percent / 100.0)
}

/// Compares two profiles, the second with the first, and tells by the exit status whether the program has become
/// slower by more than is allowed.
pub(super) fn compare_files(
    first: &Path,
    second: &Path,
    allowed: Option<f64>,
    shown: &ResultOptions,
) -> Result<ExitCode, Failure> {
    let format = |path| Ok::<_, Failure>((path, output::format_of(path)?));
    let files = shown.output.iter().map(|path| format(path.as_path()));
    let files = files.collect::<Result<Vec<_>, Failure>>()?;
    let (before, after) = (Profile::read(first)?, Profile::read(second)?);
    let report = ProfileComparisonReport {
        generated: output::generated(),
        before: &before,
        after: &after,
        comparison: ProfileComparison::of(&before, &after),
        allowed,
        most_locks: shown.top.unwrap_or(ROWS),
    };
    reports::write(&files, &report)?;
    if shown.json {
        output::json(&report.document())?;
    } else {
        let width = output::width();
        let mut tables = report.terminal_tables();
        for sentence in tables.iter_mut().flat_map(|table| &mut table.below) {
            *sentence = wrapped(sentence, width);
        }
        output::print(&reports::in_words(&tables));
    }
    Ok(match report.verdict() {
        None | Some(ChangeVerdict::NotSlower) => ExitCode::SUCCESS,
        Some(ChangeVerdict::Slower) => ExitCode::from(SLOWER),
        Some(ChangeVerdict::Unknown) => ExitCode::from(UNKNOWN),
    })
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn percentages_may_have_their_sign() {
        assert_eq!(share("5%"), Ok(0.05));
        assert_eq!(share("12.5"), Ok(0.125));
        assert_eq!(share("0 %"), Ok(0.0));
        for text in ["", "%", "-1%", "5%%", "fast", "nan"] {
            assert!(share(text).is_err(), "{text}");
        }
    }
}
