//! CHOLESKY: a sparse matrix is factored into a lower triangle and its transpose.
//!
//! # The idea
//! Columns of the factor with the same rows below them are supernodes. They are stored as dense
//! blocks and cut into panels of some columns. A panel is a task. A thread that takes it
//! 1. completes it: a dense factorization of the panel alone;
//! 2. computes, in memory of its own, what the panel takes from each panel further right;
//! 3. subtracts that from the other panel, whose lock it holds meanwhile. Once a panel has got all
//!    that it awaits, it goes to the queue of tasks.
//!
//! The order of columns, the rows of each and the panels are found out beforehand, as part of the
//! preparation.
//!
//! # Where it departs from its model
//! * The matrix is that of a grid with random weights, in place of a file of a structure: see
//!   [`matrix`]. A grid of three dimensions has dense supernodes, as structures have.
//! * Tasks are panels, and all threads take them from one queue.

mod check;
mod matrix;
mod numeric;
mod order;
mod queue;
mod summary;
mod symbolic;

use core::ops::Range;

use kilocore_platform::Platform;

use self::matrix::Matrix;
use self::queue::Queue;
pub use self::summary::Summary;
use crate::numa_programs::error::{OutOfRange, WrongResult, count_in_range};
use crate::numa_programs::lock::{Lock, free};
use crate::numa_programs::pages::Pages;
use crate::numa_programs::run::{self, Algorithm};
use crate::numa_programs::word::Word;

/// The matrix that CHOLESKY factors, and how it is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameters {
    /// Points of the grid in each direction: 1 to 32,768 each, and as many together. A point is a
    /// column of the matrix.
    pub grid: [usize; 3],
    /// The most columns of a panel: 1 to 64.
    pub panel: usize,
}

/// The most columns of a matrix.
const MOST_COLUMNS: usize = 32_768;

impl Parameters {
    /// Near the published count of references.
    pub const PUBLISHED: Self = Self { grid: [14, 13, 13], panel: 16 };
    /// A small problem, for tests.
    pub const SMALL: Self = Self { grid: [7, 6, 5], panel: 8 };

    pub(crate) fn validate(self) -> Result<(), OutOfRange> {
        let mut columns = 1;
        for points in self.grid {
            count_in_range("points in a direction of the grid", points, 1, MOST_COLUMNS)?;
            columns *= points;
        }
        count_in_range("points of the grid", columns, 1, MOST_COLUMNS)?;
        count_in_range("columns of a panel", self.panel, 1, 64)
    }
}

/// A panel. Its values are stored column by column, and each column has all the panel's rows. The
/// first rows are those of its own columns.
#[repr(C)]
struct Panel<P: Platform> {
    lock: Lock<P>,
    /// The panels that have not yet done to it what they have to.
    awaited: Word<P, u32>,
    first: Word<P, u32>,
    width: Word<P, u32>,
    height: Word<P, u32>,
    rows_at: Word<P, u32>,
    values_at: Word<P, u32>,
}

/// What a thread keeps to itself.
struct Own<P: Platform> {
    /// What a panel takes from another, column by column.
    update: Pages<Word<P, f64>>,
    /// Where the rows of one panel are among those of the other.
    places: Pages<Word<P, u32>>,
}

pub(crate) struct Cholesky<P: Platform> {
    matrix: Matrix,
    seed: u64,
    panels: Pages<Panel<P>>,
    /// The panel of each column.
    panel_of: Pages<Word<P, u32>>,
    rows: Pages<Word<P, u32>>,
    /// The matrix, and then its factor.
    values: Pages<Word<P, f64>>,
    queue: Queue<P>,
    own: Vec<Own<P>>,
}

impl<P: Platform> Cholesky<P> {
    pub(crate) fn new(parameters: Parameters, threads: usize, seed: u64) -> Self {
        let matrix = Matrix::of_grid(parameters.grid, &order::dissect(parameters.grid), seed);
        let plan = symbolic::plan(&matrix, parameters.panel);
        let values = symbolic::values(&matrix, &plan);
        let rows: Vec<u32> = plan.panels.iter().flat_map(|panel| panel.rows.clone()).collect();
        let (mut rows_at, mut values_at) = (0, 0);
        let panels = Pages::new(plan.panels.len(), |index| {
            let planned = &plan.panels[index];
            let height = planned.rows.len();
            let panel = Panel {
                lock: free(),
                awaited: Word::new(planned.awaited),
                first: Word::new(planned.first as u32),
                width: Word::new(planned.width as u32),
                height: Word::new(height as u32),
                rows_at: Word::new(rows_at as u32),
                values_at: Word::new(values_at as u32),
            };
            rows_at += height;
            values_at += height * planned.width;
            panel
        });
        let ready = (0..plan.panels.len()).filter(|&panel| plan.panels[panel].awaited == 0);
        let own = || Own {
            update: Pages::new(plan.largest_update(), |_| Word::new(0.0)),
            places: Pages::new(plan.most_rows(), |_| Word::new(0)),
        };
        Self {
            seed,
            panels,
            panel_of: Pages::new(matrix.columns(), |column| Word::new(plan.panel_of[column])),
            rows: Pages::new(rows.len(), |at| Word::new(rows[at])),
            values: Pages::new(values.len(), |at| Word::new(values[at])),
            queue: Queue::new(plan.panels.len(), ready),
            own: (0..threads).map(|_| own()).collect(),
            matrix,
        }
    }
}

impl<P: Platform> Algorithm for Cholesky<P> {
    fn thread(&self, me: usize) {
        while let Some(panel) = self.queue.take() {
            self.work_on(me, panel as usize);
        }
    }

    fn check(&self) -> Result<run::Summary, WrongResult> {
        check::check(self).map(run::Summary::Cholesky)
    }

    fn private_memory(&self) -> Vec<(usize, Range<usize>)> {
        let own = self.own.iter().enumerate();
        own.flat_map(|(thread, own)| {
            [(thread, own.update.addresses()), (thread, own.places.addresses())]
        })
        .collect()
    }

    fn shared_memory(&self) -> Vec<Range<usize>> {
        let mut memory = vec![
            self.panels.addresses(),
            self.panel_of.addresses(),
            self.rows.addresses(),
            self.values.addresses(),
        ];
        memory.extend(self.queue.addresses());
        memory
    }
}
