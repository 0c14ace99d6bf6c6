//! Curves that do alike, taken together: of twenty-six rows that differ by two per cent nobody
//! learns anything.

use kilocore_figures::CurvePoint;

use crate::drawn::{Drawn, Role, best_first};

/// The most rows of a table, or lines of a chart, that are shown unless all are asked for.
pub const MOST_SHOWN: usize = 8;
/// Curves whose ends and peaks are no further apart do alike.
const APART: f64 = 0.05;

/// Curves that do alike, the one that ends highest first.
#[derive(Debug, Clone)]
pub struct Alike<'a, P> {
    curves: Vec<Drawn<'a, P>>,
}

impl<'a, P: CurvePoint> Alike<'a, P> {
    /// A curve with none like it.
    pub fn alone(drawn: Drawn<'a, P>) -> Self {
        Self { curves: vec![drawn] }
    }

    /// The one that stands for all.
    pub fn first(&self) -> &Drawn<'a, P> {
        &self.curves[0]
    }

    /// How many there are.
    pub fn size(&self) -> usize {
        self.curves.len()
    }

    /// The names of the others behind that of the first; none if there are none.
    pub fn others_in_words(&self) -> Option<String> {
        let (first, others) = self.curves.split_first()?;
        let names: Vec<&str> = others.iter().map(|drawn| drawn.curve.lock).collect();
        (!names.is_empty()).then(|| format!("{} = {}", first.curve.lock, names.join(", ")))
    }

    fn takes(&self, drawn: &Drawn<'_, P>) -> bool {
        let first = self.first();
        let near = |a: f64, b: f64| (a - b).abs() <= APART * a.max(b);
        first.role == Role::Other
            && drawn.role == Role::Other
            && first.curve.shape == drawn.curve.shape
            && near(first.end_throughput(), drawn.end_throughput())
            && near(first.curve.peak, drawn.curve.peak)
    }
}

/// The curves in groups, that with the highest end first. Today's lock and the recommended one
/// stand alone.
pub fn groups<'a, P: CurvePoint>(curves: &[Drawn<'a, P>]) -> Vec<Alike<'a, P>> {
    let mut groups: Vec<Alike<'a, P>> = Vec::new();
    for drawn in best_first(curves) {
        match groups.iter_mut().find(|group| group.takes(&drawn)) {
            Some(group) => group.curves.push(drawn),
            None => groups.push(Alike::alone(drawn)),
        }
    }
    groups
}

/// Places of the rows to show: the first ones, so many that there is room for today's lock and the
/// recommended one.
pub fn shown<P: CurvePoint>(rows: &[Alike<'_, P>], most: usize) -> Vec<usize> {
    let matters = |&index: &usize| rows[index].first().role != Role::Other;
    let all = 0..rows.len();
    let mut kept: Vec<usize> = all.clone().filter(matters).collect();
    let others = all.filter(|index| !matters(index)).take(most.saturating_sub(kept.len()));
    kept.extend(others);
    kept.sort_unstable();
    kept
}

/// Places in the report of the curves that charts and tables show unless they are told otherwise:
/// of each group that is shown the first, and all if there are few.
pub fn telling<P: CurvePoint>(curves: &[Drawn<'_, P>]) -> Vec<usize> {
    if curves.len() <= MOST_SHOWN {
        return curves.iter().map(|drawn| drawn.style.index).collect();
    }
    let groups = groups(curves);
    shown(&groups, MOST_SHOWN).into_iter().map(|row| groups[row].first().style.index).collect()
}

#[cfg(test)]
mod tests {
    use kilocore_figures::{CurvePoint, Judged, LockCurve};

    use super::{MOST_SHOWN, groups, shown};
    use crate::curve_set::CurveSet;

    /// Cores, and throughput on them.
    #[derive(Debug)]
    struct Point(u32, f64);

    impl CurvePoint for Point {
        fn cores(&self) -> u32 {
            self.0
        }

        fn throughput(&self) -> f64 {
            self.1
        }
    }

    fn curve(lock: &'static str, end: f64) -> LockCurve<Point> {
        LockCurve::new(lock, vec![Point(1, 100.0), Point(48, end)], Judged::BY_LAST_CORES)
    }

    #[test]
    fn what_does_alike_is_one_row_but_for_today_and_the_recommended() {
        let locks = [("a", 50.0), ("b", 49.0), ("c", 48.5), ("d", 40.0), ("e", 49.5), ("f", 49.6)];
        let curves = locks.map(|(lock, end)| curve(lock, end));
        let set = CurveSet::new(&curves, Some("e"), Some("f"));
        let groups = groups(&set.curves);
        let rows: Vec<(&str, usize)> =
            groups.iter().map(|row| (row.first().curve.lock, row.size())).collect();
        assert_eq!(rows, [("a", 3), ("f", 1), ("e", 1), ("d", 1)]);
        assert_eq!(groups[0].others_in_words().as_deref(), Some("a = b, c"));
        assert_eq!(groups[1].others_in_words(), None);
    }

    #[test]
    fn of_many_rows_the_first_are_shown_and_those_that_matter() {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
        let mut end = 100.0;
        let curves = names.map(|name| {
            end *= 0.9;
            curve(name, end)
        });
        let set = CurveSet::new(&curves, Some("l"), Some("k"));
        let rows = groups(&set.curves);
        assert_eq!(rows.len(), names.len());
        assert_eq!(shown(&rows, MOST_SHOWN), [0, 1, 2, 3, 4, 5, 10, 11]);
        assert_eq!(shown(&rows, 20).len(), names.len());
    }
}
