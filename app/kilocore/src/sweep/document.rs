//! What is said of a sweep, for people and as a document.

use std::path::{Path, PathBuf};

use kilocore_show::number::count;
use kilocore_sweep::Outcome;
use kilocore_sweep_plan::{Answer, Plan, PlannedRun};
use serde::Serialize;

use super::figures::{FigureDocument, Figures};

/// The format of what `--json` prints, and its version.
pub(super) const SCHEMA: &str = "kilocore-sweep/1";

/// A plan's run, as `--json` has it.
#[derive(Debug, Serialize)]
pub(super) struct RunDocument<'a> {
    /// The line of its command in the plan.
    line: usize,
    values: Vec<(&'a str, &'a str)>,
    command: &'a [String],
    files: Vec<PathBuf>,
    /// `answered`, `failed` or `left`; nothing of a run that would be run.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
}

#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
    pub(super) schema: &'static str,
    pub(super) folder: &'a Path,
    pub(super) runs: Vec<RunDocument<'a>>,
    pub(super) figures: Vec<FigureDocument<'a>>,
    /// How many points were computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) computed: Option<usize>,
}

/// A run as a person could type it.
pub(super) fn line_of(run: &PlannedRun, folder: &Path) -> String {
    let words = run.words_with_reports(folder);
    let words: Vec<String> = words.iter().map(|word| quoted(&word.to_string_lossy())).collect();
    let printed = match &run.answer {
        Answer::Printed(file) => {
            format!(" > {}", quoted(&folder.join(file).to_string_lossy()))
        }
        Answer::Reports(_) => String::new(),
    };
    format!("{}{printed}", words.join(" "))
}

/// A word as a shell would read it.
fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:,=+@%{}".contains(&byte);
    match !word.is_empty() && word.bytes().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

pub(super) fn described<'a>(run: &'a PlannedRun, folder: &Path) -> RunDocument<'a> {
    RunDocument {
        line: run.line,
        values: run.values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect(),
        command: &run.words,
        files: run.answer.files().iter().map(|file| folder.join(file)).collect(),
        state: None,
        why: None,
    }
}

pub(super) fn document<'a>(
    plan: &'a Plan,
    folder: &'a Path,
    outcome: &'a Outcome,
    figures: &'a Figures<'a>,
) -> Document<'a> {
    let mut runs: Vec<RunDocument<'_>> = plan
        .runs
        .iter()
        .map(|run| RunDocument { state: Some("left"), ..described(run, folder) })
        .collect();
    for run in &outcome.done {
        runs[run.0].state = Some("answered");
    }
    for failed in &outcome.failed {
        let run = &mut runs[failed.run.0];
        run.state = Some("failed");
        run.why = Some(&failed.why);
    }
    let figures = figures.described();
    Document { schema: SCHEMA, folder, runs, figures, computed: Some(outcome.computed) }
}

/// What has come of it, for people.
pub(super) fn told(plan: &Plan, folder: &Path, outcome: &Outcome) -> String {
    let Outcome { done, failed, left, computed, .. } = outcome;
    let mut text = format!(
        "{} of {} runs are answered, in {}; {} points were computed.\n",
        count(done.len() as u64),
        count(plan.runs.len() as u64),
        folder.display(),
        count(*computed as u64),
    );
    for failed in failed {
        let run = &plan.runs[failed.run.0];
        text += &format!("failed: line {}, {}: {}\n", run.line, run.named(), failed.why);
    }
    if !left.is_empty() {
        text += "What was computed is kept. Run it again to go on.\n";
    }
    text
}
