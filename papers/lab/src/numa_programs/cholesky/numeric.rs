//! The work on a panel.
//!
//! All of it is one kernel: from a column, multiples of a panel's columns are subtracted or added
//! up, four at a time. So the column is loaded and stored once for each four. Codes of the time were
//! unrolled by hand in the same way.

use core::ops::Range;

use kilocore_platform::Platform;

use super::{Cholesky, Own};
use crate::numa_programs::lock::holding;
use crate::numa_programs::word::Word;

/// Columns that are subtracted at a time.
const AT_ONCE: usize = 4;

/// Where a panel lies.
#[derive(Clone, Copy)]
struct Shape {
    first: usize,
    width: usize,
    height: usize,
    rows_at: usize,
    values_at: usize,
}

impl<P: Platform> Cholesky<P> {
    /// Completes a panel and does to others what it has to.
    pub(super) fn work_on(&self, me: usize, panel: usize) {
        let shape = self.shape(panel);
        self.complete(shape);
        let rows = &self.rows[shape.rows_at..][..shape.height];
        let mut from = shape.width;
        while from < shape.height {
            let other = self.panel_of[rows[from].get() as usize].get();
            let others = self.shape(other as usize);
            let end = others.first + others.width;
            let mut to = from + 1;
            while to < shape.height && (rows[to].get() as usize) < end {
                to += 1;
            }
            self.compute_update(&self.own[me], shape, from..to);
            self.find_places(&self.own[me], &rows[from..], others);
            self.apply_update(&self.own[me], rows, from..to, other as usize, others);
            from = to;
        }
    }

    fn shape(&self, panel: usize) -> Shape {
        let panel = &self.panels[panel];
        Shape {
            first: panel.first.get() as usize,
            width: panel.width.get() as usize,
            height: panel.height.get() as usize,
            rows_at: panel.rows_at.get() as usize,
            values_at: panel.values_at.get() as usize,
        }
    }

    fn column(&self, shape: Shape, column: usize) -> &[Word<P, f64>] {
        &self.values[shape.values_at + column * shape.height..][..shape.height]
    }

    /// Factors the panel itself, from which everything further left has been subtracted.
    fn complete(&self, shape: Shape) {
        for column in 0..shape.width {
            let values = self.column(shape, column);
            self.add_columns(shape, column, 0..column, values, |old, sum| old.get() - sum);
            let diagonal = values[column].get().sqrt();
            values[column].set(diagonal);
            let factor = 1.0 / diagonal;
            for value in &values[column + 1..] {
                value.set(value.get() * factor);
            }
        }
    }

    /// For each row from `row` on, sums up columns of a panel, each times its value in row `row`.
    /// What `change` makes of the sum of four becomes the new value of `target`.
    #[inline(always)]
    fn add_columns(
        &self,
        shape: Shape,
        row: usize,
        columns: Range<usize>,
        target: &[Word<P, f64>],
        change: impl Fn(&Word<P, f64>, f64) -> f64,
    ) {
        let end = columns.end;
        for first in columns.step_by(AT_ONCE) {
            let several = AT_ONCE.min(end - first);
            let sources: [&[Word<P, f64>]; AT_ONCE] =
                core::array::from_fn(|of| self.column(shape, first + of.min(several - 1)));
            let factors: [f64; AT_ONCE] =
                core::array::from_fn(|of| if of < several { sources[of][row].get() } else { 0.0 });
            for at in row..shape.height {
                let mut sum = 0.0;
                for (source, factor) in sources.iter().zip(factors).take(several) {
                    sum += factor * source[at].get();
                }
                target[at].set(change(&target[at], sum));
            }
        }
    }

    /// Computes what the panel takes from the columns that some of its rows are.
    fn compute_update(&self, own: &Own<P>, shape: Shape, rows: Range<usize>) {
        for row in rows.clone() {
            let update = self.update_column(own, shape, row - rows.start);
            let first = AT_ONCE.min(shape.width);
            self.add_columns(shape, row, 0..first, update, |_, sum| sum);
            self.add_columns(shape, row, first..shape.width, update, |old, sum| old.get() + sum);
        }
    }

    fn update_column<'a>(
        &self,
        own: &'a Own<P>,
        shape: Shape,
        column: usize,
    ) -> &'a [Word<P, f64>] {
        &own.update[column * shape.height..][..shape.height]
    }

    /// Finds the rows of one panel among those of another, which has all of them.
    fn find_places(&self, own: &Own<P>, rows: &[Word<P, u32>], others: Shape) {
        let all = &self.rows[others.rows_at..][..others.height];
        let mut place = 0;
        for (found, row) in own.places.iter().zip(rows) {
            let row = row.get();
            while all[place].get() != row {
                place += 1;
            }
            found.set(place as u32);
        }
    }

    /// Subtracts what was computed. The last panel that does this makes the other one a task.
    fn apply_update(
        &self,
        own: &Own<P>,
        rows: &[Word<P, u32>],
        from_to: Range<usize>,
        other: usize,
        others: Shape,
    ) {
        let panel = &self.panels[other];
        let complete = holding::<P, _>(&panel.lock, || {
            for row in from_to.clone() {
                let update = &own.update[(row - from_to.start) * rows.len()..][..rows.len()];
                let target = self.column(others, rows[row].get() as usize - others.first);
                for at in row..rows.len() {
                    let value = &target[own.places[at - from_to.start].get() as usize];
                    value.set(value.get() - update[at].get());
                }
            }
            let awaited = panel.awaited.get() - 1;
            panel.awaited.set(awaited);
            awaited == 0
        });
        if complete {
            self.queue.give(other as u32);
        }
    }
}
