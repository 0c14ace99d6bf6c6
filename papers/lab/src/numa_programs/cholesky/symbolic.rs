//! Which rows each column of the factor has, and the panels.
//!
//! A column of the factor has the rows of the matrix's column, and those of its children in the
//! elimination tree. Its parent is its first row below the diagonal. A column that has the same
//! rows as its child, apart from the child's own, goes into one supernode with it.

use super::matrix::Matrix;

/// A panel before it has a place in memory.
pub(super) struct PlannedPanel {
    pub(super) first: usize,
    pub(super) width: usize,
    /// Its own columns first.
    pub(super) rows: Vec<u32>,
    /// How many panels take something from it.
    pub(super) awaited: u32,
}

pub(super) struct Plan {
    pub(super) panels: Vec<PlannedPanel>,
    pub(super) panel_of: Vec<u32>,
}

impl Plan {
    /// The most rows of a panel.
    pub(super) fn most_rows(&self) -> usize {
        self.panels.iter().map(|panel| panel.rows.len()).max().unwrap_or(0)
    }

    /// The most values that a panel takes from another one: the rows below it, for as many columns
    /// as the other has.
    pub(super) fn largest_update(&self) -> usize {
        let widest = self.panels.iter().map(|panel| panel.width).max().unwrap_or(0);
        widest * self.most_rows()
    }
}

/// The panels of a matrix, of `most` columns at most.
pub(super) fn plan(matrix: &Matrix, most: usize) -> Plan {
    let below = rows_below(matrix);
    let columns = below.len();
    let mut plan = Plan { panels: Vec::new(), panel_of: vec![0; columns] };
    let mut first = 0;
    while first < columns {
        let mut end = first + 1;
        while end < columns && end - first < most && continues(&below[end - 1], &below[end], end) {
            end += 1;
        }
        let mut rows = vec![first as u32];
        rows.extend(&below[first]);
        plan.panel_of[first..end].fill(plan.panels.len() as u32);
        plan.panels.push(PlannedPanel { first, width: end - first, rows, awaited: 0 });
        first = end;
    }
    count_awaited(&mut plan);
    plan
}

/// Whether column `column` has the rows of the one before it.
fn continues(before: &[u32], below: &[u32], column: usize) -> bool {
    before.first() == Some(&(column as u32)) && before.len() == below.len() + 1
}

/// The rows below the diagonal of each column of the factor, in order.
fn rows_below(matrix: &Matrix) -> Vec<Vec<u32>> {
    let columns = matrix.columns();
    let mut rows: Vec<Vec<u32>> =
        matrix.below.iter().map(|column| column.iter().map(|&(row, _)| row).collect()).collect();
    for column in 0..columns {
        // All children have added theirs.
        rows[column].sort_unstable();
        rows[column].dedup();
        if let [parent, others @ ..] = &rows[column][..] {
            let (parent, others) = (*parent as usize, others.to_vec());
            rows[parent].extend(others);
        }
    }
    rows
}

fn count_awaited(plan: &mut Plan) {
    let mut awaited = vec![0; plan.panels.len()];
    for panel in &plan.panels {
        let mut others: Vec<u32> =
            panel.rows[panel.width..].iter().map(|&row| plan.panel_of[row as usize]).collect();
        // Rows are in order, and so are the panels that they are in.
        others.dedup();
        for other in others {
            awaited[other as usize] += 1;
        }
    }
    for (panel, awaited) in plan.panels.iter_mut().zip(awaited) {
        panel.awaited = awaited;
    }
}

/// The values of the matrix in the places that they have in the panels.
pub(super) fn values(matrix: &Matrix, plan: &Plan) -> Vec<f64> {
    let mut values = Vec::new();
    for panel in &plan.panels {
        for column in panel.first..panel.first + panel.width {
            let start = values.len();
            values.resize(start + panel.rows.len(), 0.0);
            values[start + column - panel.first] = matrix.diagonal[column];
            for &(row, value) in &matrix.below[column] {
                let place = panel.rows.binary_search(&row).expect("the factor has the row");
                values[start + place] = value;
            }
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numa_programs::cholesky::order::dissect;

    #[test]
    fn a_line_of_points_fills_nothing_in_but_at_cuts() {
        // In the order 0 1 3 4 2, column 2 has the rows of its neighbours 1 and 3.
        let grid = [5, 1, 1];
        let matrix = Matrix::of_grid(grid, &dissect(grid), 1);
        let below = rows_below(&matrix);
        assert!(below.iter().all(|rows| rows.len() <= 2), "{below:?}");
        assert!(below[4].is_empty());
    }

    #[test]
    fn panels_cover_all_columns_in_order() {
        let grid = [6, 5, 4];
        let matrix = Matrix::of_grid(grid, &dissect(grid), 1);
        let plan = plan(&matrix, 4);
        let mut next = 0;
        for panel in &plan.panels {
            assert_eq!(panel.first, next);
            assert!((1..=4).contains(&panel.width));
            next += panel.width;
            let own = (panel.first..next).map(|column| column as u32);
            assert!(panel.rows.iter().copied().take(panel.width).eq(own));
            assert!(panel.rows.is_sorted());
        }
        assert_eq!(next, matrix.columns());
    }
}
