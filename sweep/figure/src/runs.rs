//! From the runs of a plan that are answered to a figure of it.

use std::path::Path;

use kilocore_linux::foreign_files::ForeignFile;
use kilocore_show::Generated;
use kilocore_sweep_plan::{Plan, PlannedFigure, PlannedRun};

use crate::figure::Figure;
use crate::gathering::Gathering;
use crate::{FigureError, MOST_BYTES};

/// The runs of a plan of which figures are made.
#[derive(Debug, Clone)]
pub struct Runs<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// What the plan's file is called.
    pub origin: &'a str,
    /// The folder of the answers.
    pub folder: &'a Path,
    /// Those whose answers are there.
    pub answered: Vec<&'a PlannedRun>,
    /// By whom and how figures are made.
    pub generated: Generated,
}

impl Figure {
    /// Makes a figure. There is none while no run that writes a table is answered.
    ///
    /// # Errors
    /// [`FigureError`], if the tables do not have what it is of.
    pub fn of(planned: &PlannedFigure, runs: &Runs<'_>) -> Result<Option<Self>, FigureError> {
        let mut gathering = Gathering::new(planned);
        let mut answered = 0;
        for run in &runs.answered {
            let Some(table) = run.answer.table() else { continue };
            let bytes = ForeignFile::open(&runs.folder.join(table))?.contents(MOST_BYTES)?;
            gathering.add(table, run, &bytes)?;
            answered += 1;
        }
        if answered == 0 {
            return Ok(None);
        }
        let of = runs.plan.runs.iter().filter(|run| run.answer.table().is_some()).count();
        gathering.figure(runs.origin, (answered, of), runs.generated.clone()).map(Some)
    }
}
