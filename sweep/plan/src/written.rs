//! A plan of one command, as it was typed.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Component, Path};

use thiserror::Error;
use toml::Value as Toml;

use crate::template::Template;
use crate::{Plan, PlanError};

/// What comes before a report that a command is to write.
const OUTPUT: [&str; 2] = ["--output", SHORT];
const SHORT: &str = "-o";

/// Why there is no plan of a command.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WrittenError {
    /// A plan is text.
    #[error("'{0}' is no text, so it cannot stand in a plan; rename the file")]
    NoText(String),
    /// It would stand for a value.
    #[error(
        "'{0}' has a name in braces, which a plan would take for one of its own; rename the file"
    )]
    Braces(String),
    /// The plan cannot be read again.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

/// The text of a plan that runs a command. `words` are the program's name and what was typed after it. The first so many
/// `reports` that it is to write become the outputs of its run, in the plan's folder. `notes` are comments, a line each.
///
/// # Errors
/// [`WrittenError`], if the command cannot stand in a plan.
pub fn written(
    words: &[OsString],
    reports: usize,
    notes: &[String],
) -> Result<String, WrittenError> {
    let text = |word: &OsString| {
        let word = word.to_str();
        word.map(str::to_owned).ok_or_else(|| {
            WrittenError::NoText(words.iter().map(|it| it.to_string_lossy()).collect())
        })
    };
    let words = words.iter().map(text).collect::<Result<Vec<String>, _>>()?;
    if let Some(braces) =
        words.iter().find(|word| Template::from(word.as_str()).unknown(|_| false).is_some())
    {
        return Err(WrittenError::Braces(braces.clone()));
    }
    let (words, reports) = without_reports(words, reports);
    let command = shlex::try_join(words.iter().map(String::as_str))
        .map_err(|_| WrittenError::NoText(words.join(" ")))?;
    let mut plan = String::new();
    for note in notes {
        writeln!(plan, "# {note}").expect("writing to a string cannot fail");
    }
    write!(plan, "\n[[run]]\ncommand = {}\n", Toml::from(command))
        .expect("writing to a string cannot fail");
    if !reports.is_empty() {
        let reports: Vec<Toml> = reports.into_iter().map(Toml::from).collect();
        writeln!(plan, "output = {}", Toml::from(reports))
            .expect("writing to a string cannot fail");
    }
    Plan::parse(&plan, "the plan")?;
    Ok(plan)
}

/// A command without its first so many reports, and these, as files in another folder. More would be those of a program that it
/// starts.
fn without_reports(words: Vec<String>, count: usize) -> (Vec<String>, Vec<String>) {
    let (mut left, mut reports) = (Vec::new(), Vec::new());
    let mut words = words.into_iter();
    while reports.len() < count
        && let Some(word) = words.next()
    {
        let attached = OUTPUT.iter().find_map(|option| match word.strip_prefix(option)? {
            "" => None,
            rest if *option == SHORT => Some(rest.strip_prefix('=').unwrap_or(rest)),
            rest => rest.strip_prefix('='),
        });
        if let Some(report) = attached {
            reports.push(below_a_folder(report));
        } else if OUTPUT.contains(&word.as_str()) {
            reports.extend(words.next().map(|report| below_a_folder(&report)));
        } else {
            left.push(word);
        }
    }
    left.extend(words);
    (left, reports)
}

/// A file as it is named below another folder: as it is, or its name alone.
fn below_a_folder(file: &str) -> String {
    let path = Path::new(file);
    let is_below = path.components().all(|part| matches!(part, Component::Normal(_)));
    match path.file_name().and_then(|name| name.to_str()) {
        Some(name) if !is_below => name.to_owned(),
        _ => file.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::path::PathBuf;

    use super::written;
    use crate::{Answer, Plan};

    fn of(words: &[&str], reports: usize) -> Result<String, String> {
        let words: Vec<OsString> = words.iter().map(Into::into).collect();
        written(&words, reports, &["one".to_owned(), "two".to_owned()])
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_command_is_a_run_and_its_reports_are_outputs() {
        let words =
            "kilocore emulate --output=/tmp/a.csv -o b/c.svg -od.md --lock mcs sh -o {cores} x\"y";
        let words: Vec<&str> = words.split(' ').collect();
        let text = of(&words, 3).expect("a plan");
        assert!(text.starts_with("# one\n# two\n"), "{text}");
        let plan = Plan::parse(&text, "plan.toml").expect("a plan");
        let [run] = plan.runs.as_slice() else { panic!("one run: {text}") };
        let words: Vec<&str> = run.words.iter().map(String::as_str).collect();
        assert_eq!(words.join(" "), "kilocore emulate --lock mcs sh -o {cores} x\"y");
        let reports = ["a.csv", "b/c.svg", "d.md"].map(PathBuf::from);
        assert_eq!(run.answer, Answer::Reports(reports.into()));
        assert!(of(&["kilocore", "list", "locks"], 0).expect("a plan").ends_with("locks\"\n"));
    }

    #[test]
    fn what_a_plan_would_take_for_its_own_is_refused() {
        let said = of(&["kilocore", "forecast", "{db}.json"], 0).expect_err("a name in braces");
        assert!(said.contains("{db}.json") && said.contains("rename"), "{said}");
    }
}
