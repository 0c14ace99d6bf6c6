//! In which order the points of a grid are eliminated.
//!
//! Nested dissection (George 1973): a plane of points cuts the grid in two. The points of each half
//! come first, ordered in the same way, and those of the plane come last. What is eliminated in one
//! half then never fills in the other, so that threads can work on both.

use core::ops::Range;

/// The points of the grid in that order. A point's number counts along the first direction first.
pub(super) fn dissect(grid: [usize; 3]) -> Vec<usize> {
    let mut order = Vec::with_capacity(grid.iter().product());
    part(grid, grid.map(|points| 0..points), &mut order);
    order
}

fn part(grid: [usize; 3], within: [Range<usize>; 3], order: &mut Vec<usize>) {
    if within.iter().any(Range::is_empty) {
        return;
    }
    let longest = (0..3).max_by_key(|&axis| within[axis].len()).expect("there are three");
    let range = within[longest].clone();
    if range.len() == 1 {
        let [x, y, z] = within.map(|range| range.start);
        order.push(x + grid[0] * (y + grid[1] * z));
        return;
    }
    let middle = range.start + range.len() / 2;
    for slice in [range.start..middle, middle + 1..range.end, middle..middle + 1] {
        let mut half = within.clone();
        half[longest] = slice;
        part(grid, half, order);
    }
}

#[cfg(test)]
mod tests {
    use super::dissect;

    #[test]
    fn each_point_is_there_once_and_the_cut_comes_last() {
        for grid in [[1, 1, 1], [7, 3, 1], [4, 5, 6]] {
            let mut order = dissect(grid);
            order.sort_unstable();
            assert!(order.into_iter().eq(0..grid.iter().product()), "{grid:?}");
        }
        assert_eq!(dissect([5, 1, 1]), [0, 1, 3, 4, 2]);
    }
}
