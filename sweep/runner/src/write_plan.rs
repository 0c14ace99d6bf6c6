//! `--plan FILE`: a command as a plan, in the place of running it.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use kilocore_output_file::write_whole;
use kilocore_points::Missing;
use kilocore_sweep_plan::{Plan, WrittenError, written};
use thiserror::Error;

use crate::asked::{Asked, asked};

/// The option of commands that have points.
const OPTION: &str = "--plan";

/// Why a command is not written as a plan.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WritePlanError {
    /// Somebody may have written more into it.
    #[error("{}: it is there already, and may have been changed by hand; name another file, or remove it", .0.display())]
    IsThere(PathBuf),
    /// The command would not be run either: what it says.
    #[error("{0}")]
    Fails(String),
    /// It cannot stand in a plan.
    #[error(transparent)]
    Written(#[from] WrittenError),
    /// The command cannot be asked.
    #[error("cannot run this program once more: {0}")]
    Program(io::Error),
    /// The file cannot be written.
    #[error("{}: {source}; name a file that can be written", file.display())]
    File {
        /// The plan.
        file: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// Writes a plan that runs this process's command. Returns what is said of it. `name` is the program's, and
/// `reports` is how many files the command is to write by `--output`.
///
/// # Errors
/// [`WritePlanError`]; then there is no plan.
pub fn write_plan(file: &Path, name: &str, reports: usize) -> Result<String, WritePlanError> {
    if file.is_file() {
        return Err(WritePlanError::IsThere(file.to_owned()));
    }
    let program = env::current_exe().map_err(WritePlanError::Program)?;
    let words = without_option(env::args_os().skip(1));
    let words: Vec<OsString> = [name.into()].into_iter().chain(words).collect();
    let plan = Plan::parse(&written(&words, reports, &[])?, name).map_err(WrittenError::from)?;
    let run = plan.runs.first().expect("a plan has a run");
    let missing = match asked(&program, &run.words[1..]).map_err(WritePlanError::Program)? {
        Asked::Misses(missing) => missing,
        Asked::Nothing => Vec::new(),
        Asked::Fails(said) => {
            let said =
                said.strip_prefix(name).and_then(|said| said.strip_prefix(": ")).unwrap_or(&said);
            return Err(WritePlanError::Fails(said.to_owned()));
        }
    };
    let told = told(&missing);
    let notes = [
        format!(
            "{told} `kilocore sweep` with this file computes what is missing and writes the answer."
        ),
        "To vary an option, write a name in braces in its place and its values under 'over', as in"
            .to_owned(),
        "`--seed {seed}` and `over.seed = \"1-5\"`: docs/formats/plans.md says more.".to_owned(),
    ];
    let plan = written(&words, reports, &notes)?;
    let failed = |source| WritePlanError::File { file: file.to_owned(), source };
    write_whole(file, plan).map_err(failed)?;
    Ok(format!("written to {}. {told}", file.display()))
}

/// How many points are missing, and of what.
fn told(missing: &[Missing]) -> String {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for point in missing {
        *kinds.entry(&point.computation).or_default() += 1;
    }
    let kinds: Vec<String> =
        kinds.into_iter().map(|(kind, count)| format!("{count} of '{kind}'")).collect();
    match missing.len() {
        0 => "No point is missing.".to_owned(),
        1 => format!("One point is missing: {}.", kinds.join(", ")),
        count => format!("{count} points are missing: {}.", kinds.join(", ")),
    }
}

/// A command's words without the option for its plan. What comes after it may be a program's own.
fn without_option(mut words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut left = Vec::new();
    while let Some(word) = words.next() {
        let rest = word.as_encoded_bytes().strip_prefix(OPTION.as_bytes());
        match rest.map(<[u8]>::first) {
            Some(None) => {
                words.next();
                break;
            }
            Some(Some(b'=')) => break,
            _ => left.push(word),
        }
    }
    left.extend(words);
    left
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use kilocore_points::{Key, Missing};

    use super::{told, without_option};

    #[test]
    fn only_the_option_goes_and_a_program_keeps_its_words() {
        for own in ["--plan a.toml", "--plan=a.toml"] {
            let words = format!("emulate --planet {own} x --plan c --plan=d");
            let left = without_option(words.split(' ').map(OsString::from));
            assert_eq!(left, ["emulate", "--planet", "x", "--plan", "c", "--plan=d"]);
        }
    }

    #[test]
    fn what_is_missing_is_counted() {
        let missing = |computation: &str| Missing {
            key: Key::of(computation),
            computation: computation.to_owned(),
            cost: 1.0,
            words: String::new(),
        };
        assert_eq!(told(&[]), "No point is missing.");
        assert_eq!(told(&[missing("b")]), "One point is missing: 1 of 'b'.");
        assert_eq!(
            told(&[missing("b"), missing("a"), missing("b")]),
            "3 points are missing: 1 of 'a', 2 of 'b'."
        );
    }
}
