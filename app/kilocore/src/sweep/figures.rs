//! The figures of a sweep: made of what its runs have answered, and told.

use std::fs;
use std::path::{Path, PathBuf};

use kilocore_command_line::output::generated;
use kilocore_show::shell::shell_word;
use kilocore_show::{Generated, ReportError, write};
use kilocore_sweep::Outcome;
use kilocore_sweep_figure::{Figure, Runs};
use kilocore_sweep_plan::{Plan, PlannedFigure};
use serde::Serialize;

/// A plan's figures, and what has come of each.
pub(super) struct Figures<'a> {
    folder: &'a Path,
    all: Vec<(&'a PlannedFigure, State)>,
}

/// What has come of a figure.
enum State {
    /// Nothing is run.
    Planned,
    /// It is written.
    Written,
    /// No run that it needs is answered, or this sweep was to make none, or was told to end.
    Left,
    /// It cannot be made.
    Failed(String),
}

/// A figure, as `--json` has it.
#[derive(Debug, Serialize)]
pub(super) struct FigureDocument<'a> {
    /// The line of its output in the plan.
    line: usize,
    files: Vec<PathBuf>,
    /// `written`, `failed` or `left`; nothing if nothing is run.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
}

impl<'a> Figures<'a> {
    /// The figures of a plan that is not run.
    pub(super) fn planned(plan: &'a Plan, folder: &'a Path) -> Self {
        let all = plan.figures.iter().map(|planned| (planned, State::Planned)).collect();
        Self { folder, all }
    }

    /// The figures of a sweep that leaves them to another.
    pub(super) fn left(plan: &'a Plan, folder: &'a Path) -> Self {
        let all = plan.figures.iter().map(|planned| (planned, State::Left)).collect();
        Self { folder, all }
    }

    /// Makes the figures of the runs that are answered. A sweep that was told to end makes none: those that are there may be
    /// of more.
    pub(super) fn make(plan: &'a Plan, origin: &str, folder: &'a Path, outcome: &Outcome) -> Self {
        let answered = outcome.done.iter().map(|run| &plan.runs[run.0]).collect();
        // However a sweep was run, its figures are the same.
        let command = format!("kilocore sweep {}", shell_word(origin));
        let generated = Generated { command, ..generated() };
        let runs = Runs { plan, origin, folder, answered, generated };
        let state = |planned: &PlannedFigure| {
            if outcome.told_by.is_some() {
                return State::Left;
            }
            match Figure::of(planned, &runs) {
                Ok(Some(figure)) => match write_all(&figure, folder) {
                    Ok(()) => State::Written,
                    Err(error) => State::Failed(error.to_string()),
                },
                Ok(None) => State::Left,
                Err(error) => State::Failed(error.to_string()),
            }
        };
        let all = plan.figures.iter().map(|planned| (planned, state(planned))).collect();
        Self { folder, all }
    }

    /// Whether one cannot be made.
    pub(super) fn has_failed(&self) -> bool {
        self.all.iter().any(|(_, state)| matches!(state, State::Failed(_)))
    }

    /// All of them, for programs.
    pub(super) fn described<'s>(&'s self) -> Vec<FigureDocument<'s>> {
        let described = |(planned, state): &'s (&'a PlannedFigure, State)| {
            let files = self.files(planned);
            let line = planned.line;
            let (state, why) = match state {
                State::Planned => (None, None),
                State::Written => (Some("written"), None),
                State::Left => (Some("left"), None),
                State::Failed(why) => (Some("failed"), Some(why.as_str())),
            };
            FigureDocument { line, files, state, why }
        };
        self.all.iter().map(described).collect()
    }

    /// What has come of them, for people: a line each. If nothing is run, it is a comment of a shell.
    pub(super) fn told(&self) -> String {
        let told = |(planned, state): &(&'a PlannedFigure, State)| {
            let files: Vec<String> =
                self.files(planned).iter().map(|file| file.display().to_string()).collect();
            let files = files.join(", ");
            let PlannedFigure { line, x, y, .. } = planned;
            match state {
                State::Planned => format!("# figure: line {line}, {y} against {x}, in {files}\n"),
                State::Written => format!("figure: {files}\n"),
                State::Left => String::new(),
                State::Failed(why) => format!("failed: line {line}, the figure {files}: {why}\n"),
            }
        };
        self.all.iter().map(told).collect()
    }

    fn files(&self, planned: &PlannedFigure) -> Vec<PathBuf> {
        planned.files.iter().map(|file| self.folder.join(file)).collect()
    }
}

/// Writes a figure into each of its files.
fn write_all(figure: &Figure, folder: &Path) -> Result<(), ReportError> {
    for file in &figure.planned.files {
        let path = folder.join(file);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)
                .map_err(|cause| ReportError::Write { path: path.clone(), cause })?;
        }
        write(&path, figure)?;
    }
    Ok(())
}
