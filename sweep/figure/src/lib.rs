//! Figures of a sweep: what its runs' tables say together.
//!
//! The commands of a plan write tables of points, a row each, as CSV. A [`PlannedFigure`](kilocore_sweep_plan::PlannedFigure)
//! names columns of these: one that runs across, one that is shown, and those of whose values there is a line or a chart
//! each. [`Figure::of`] reads the tables of the runs that are answered, and makes a study of them: a chart, a page and a
//! table.
//!
//! # Decisions
//! * **A run's values are columns, too**, where its table has none of that name. So the plan's own names can be drawn, and
//!   a table that says the same itself, or more, is believed.
//! * **What meets in a point is its median**, with the lowest and the highest beside it. If the rows of a point differ in a
//!   value of the plan, the figure says in which: nobody has asked for them to be put together.
//! * **No point is of two kinds of figures.** What was measured and what was simulated are two lines, and say so.
//! * **A table without one of the columns is left out, and counted.** A plan may have runs of several commands, and a figure
//!   be of some of them. A column that no table has is an error, as a name was misspelt.
//! * **Lines and charts stand in the order of the plan's runs**, as that is how its author has written them.

mod document;
mod error;
mod figure;
mod gathering;
mod limits;
mod names;
mod rows;
mod runs;
mod study;
mod tables;

pub use error::FigureError;
pub use figure::{Figure, FigureChart, FigureLine, FigurePoint};
pub use gathering::Gathering;
pub use limits::{MOST_BYTES, MOST_CHARTS, MOST_LINES, MOST_NAME, MOST_POINTS, MOST_ROWS};
pub use runs::Runs;
