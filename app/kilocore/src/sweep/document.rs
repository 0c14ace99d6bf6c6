//! What is said of a sweep, for people and as a document.

use std::path::{Path, PathBuf};

use kilocore_show::number::count;
use kilocore_show::shell::{shell_word, shell_words};
use kilocore_sweep::{AfterEnd, Outcome};
use kilocore_sweep_plan::{AfterCommand, Answer, Plan, PlannedRun};
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

/// A command after all runs, as `--json` has it.
#[derive(Debug, Serialize)]
struct AfterDocument<'a> {
    line: usize,
    command: &'a [String],
    /// `done`, `failed` or `left`; nothing of one that would be run.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
}

#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
    schema: &'static str,
    folder: &'a Path,
    runs: Vec<RunDocument<'a>>,
    figures: Vec<FigureDocument<'a>>,
    after: Vec<AfterDocument<'a>>,
    /// How many points were computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    computed: Option<usize>,
}

/// What would be run, a line each.
pub(super) fn listed(plan: &Plan, folder: &Path, figures: &Figures<'_>) -> String {
    let runs: String = plan.runs.iter().map(|run| line_of(run, folder) + "\n").collect();
    let after = plan.after.iter().map(|after| shell_words(&after.words) + "\n");
    runs + &figures.told() + &after.collect::<String>()
}

/// A run as a person could type it.
fn line_of(run: &PlannedRun, folder: &Path) -> String {
    let words = run.words_with_reports(folder);
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let words = shell_words(&words);
    let printed = match &run.answer {
        Answer::Printed(file) => {
            format!(" > {}", shell_word(&folder.join(file).to_string_lossy()))
        }
        Answer::Reports(_) => String::new(),
    };
    format!("{words}{printed}")
}

fn described<'a>(run: &'a PlannedRun, folder: &Path) -> RunDocument<'a> {
    RunDocument {
        line: run.line,
        values: run.values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect(),
        command: &run.words,
        files: run.answer.files().iter().map(|file| folder.join(file)).collect(),
        state: None,
        why: None,
    }
}

/// What would be run.
pub(super) fn planned<'a>(
    plan: &'a Plan,
    folder: &'a Path,
    figures: &'a Figures<'a>,
) -> Document<'a> {
    let runs = plan.runs.iter().map(|run| described(run, folder)).collect();
    let figures = figures.described();
    let after = plan.after.iter().map(|AfterCommand { line, words }| AfterDocument {
        line: *line,
        command: words,
        state: None,
        why: None,
    });
    Document { schema: SCHEMA, folder, runs, figures, after: after.collect(), computed: None }
}

/// What has come of it.
pub(super) fn document<'a>(
    plan: &'a Plan,
    folder: &'a Path,
    outcome: &'a Outcome,
    figures: &'a Figures<'a>,
) -> Document<'a> {
    let mut document =
        Document { computed: Some(outcome.computed), ..planned(plan, folder, figures) };
    let Document { runs, after, .. } = &mut document;
    runs.iter_mut().for_each(|run| run.state = Some("left"));
    after.iter_mut().for_each(|after| after.state = Some("left"));
    for run in &outcome.done {
        runs[run.0].state = Some("answered");
    }
    for failed in &outcome.failed {
        let run = &mut runs[failed.run.0];
        run.state = Some("failed");
        run.why = Some(&failed.why);
    }
    for (after, end) in after.iter_mut().zip(&outcome.after) {
        after.state = Some(match end {
            AfterEnd::Well => "done",
            AfterEnd::Failed(why) => {
                after.why = Some(why);
                "failed"
            }
        });
    }
    document
}

/// What has come of it, for people.
pub(super) fn told(plan: &Plan, folder: &Path, outcome: &Outcome, figures: &Figures<'_>) -> String {
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
    text += &figures.told();
    for (after, end) in plan.after.iter().zip(&outcome.after) {
        if let AfterEnd::Failed(why) = end {
            text += &format!("failed: line {}, {}: {why}\n", after.line, shell_words(&after.words));
        }
    }
    if !left.is_empty() {
        text += "What was computed is kept. Run it again to go on.\n";
    }
    text
}
