//! Whether one group of samples is higher than another: the test of Mann and Whitney.
//!
//! It asks only for the order of the samples, so that one outlier weighs no more than its rank.
//! Small groups without ties get their exact chance; others the normal approximation, with the
//! correction for ties.
//!
//! The crate `statrs` has this test too, but counts every arrangement for the exact chance, so that
//! two groups of twenty would take it hours, and on its own choice approximates where both groups
//! have more than eight samples; a usual run has eleven.

/// What the test says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RankTest {
    /// The chance of groups at least so far apart, in either direction, if both came from one.
    pub(crate) p: f64,
    /// The least chance that groups of these sizes can have.
    pub(crate) least_p: f64,
}

/// The largest product of the sizes that the exact chance is worked out for.
const EXACT: usize = 3600;

/// Compares two groups; none if one is empty.
pub(crate) fn rank_test(a: &[f64], b: &[f64]) -> Option<RankTest> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let (higher, ties) = (pairs(a, b, |x, y| y > x), pairs(a, b, |x, y| x == y));
    let all = a.len() * b.len();
    let u = higher as f64 + ties as f64 / 2.0;
    let smaller = u.min(all as f64 - u);
    let p = if all <= EXACT && !has_ties(a, b) {
        // A whole number: there are no ties.
        let at_most = smaller as usize;
        2.0 * chances(a.len(), b.len())[..=at_most].iter().sum::<f64>()
    } else {
        approximation(a, b, smaller)
    };
    // Either group could be all below the other.
    let arrangements = (1..=a.len()).map(|i| (b.len() + i) as f64 / i as f64).product::<f64>();
    Some(RankTest { p: p.min(1.0), least_p: (2.0 / arrangements).min(1.0) })
}

fn pairs(a: &[f64], b: &[f64], count: fn(f64, f64) -> bool) -> usize {
    a.iter().map(|&x| b.iter().filter(|&&y| count(x, y)).count()).sum()
}

fn pooled(a: &[f64], b: &[f64]) -> Vec<f64> {
    crate::statistics::sorted(a.iter().chain(b).copied())
}

fn has_ties(a: &[f64], b: &[f64]) -> bool {
    pooled(a, b).windows(2).any(|pair| pair[0] == pair[1])
}

/// The chance of each number of pairs in which the one is higher, all orders being as likely.
///
/// The highest of all is one of the first group with the share of that group; then the rest has
/// that many fewer pairs to give.
fn chances(first: usize, second: usize) -> Vec<f64> {
    // Chances for groups of `m` and of `n` so far, by `m`.
    let mut by_first: Vec<Vec<f64>> = vec![vec![1.0]; first + 1];
    for n in 1..=second {
        for m in 1..=first {
            let mut now = vec![0.0; m * n + 1];
            let (of_first, of_second) = (m as f64 / (m + n) as f64, n as f64 / (m + n) as f64);
            for (u, chance) in by_first[m - 1].iter().enumerate() {
                now[u + n] += of_first * chance;
            }
            for (u, chance) in by_first[m].iter().enumerate() {
                now[u] += of_second * chance;
            }
            by_first[m] = now;
        }
    }
    by_first.pop().unwrap_or_default()
}

/// Twice the normal distribution's tail below, with corrections for ties and for steps.
fn approximation(a: &[f64], b: &[f64], smaller: f64) -> f64 {
    let (m, n) = (a.len() as f64, b.len() as f64);
    let all = m + n;
    let groups = pooled(a, b);
    let of_ties: f64 = groups
        .chunk_by(|x, y| x == y)
        .map(|tied| tied.len() as f64)
        .map(|tied| tied.powi(3) - tied)
        .sum();
    let variance = m * n / 12.0 * (all + 1.0 - of_ties / (all * (all - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let away = (m * n / 2.0 - smaller - 0.5).max(0.0) / variance.sqrt();
    libm::erfc(away / std::f64::consts::SQRT_2)
}

/// Chances that allow for how many comparisons are made, by the method of Holm, in the given order.
pub(crate) fn corrected(chances: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..chances.len()).collect();
    order.sort_by(|&i, &j| chances[i].total_cmp(&chances[j]));
    let mut corrected = vec![1.0; chances.len()];
    let mut least = 0.0_f64;
    for (rank, &index) in order.iter().enumerate() {
        least = least.max(chances[index] * (chances.len() - rank) as f64).min(1.0);
        corrected[index] = least;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(a: &[f64], b: &[f64]) -> f64 {
        rank_test(a, b).unwrap().p
    }

    #[test]
    fn exact_chances_are_those_of_counting() {
        // Of the 20 orders of 3 and 3, one has all of the first below all of the second.
        let (low, high) = ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]);
        assert!((p(&low, &high) - 0.1).abs() < 1e-12);
        assert!((p(&high, &low) - 0.1).abs() < 1e-12);
        // One exchange: two orders are as far apart or farther, in each direction.
        assert!((p(&[1.0, 2.0, 4.0], &[3.0, 5.0, 6.0]) - 0.2).abs() < 1e-12);
        assert!((p(&[1.0, 3.0, 5.0], &[2.0, 4.0, 6.0]) - 0.7).abs() < 1e-12);
        let all: f64 = chances(7, 9).iter().sum();
        assert!((all - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_least_chance_is_that_of_groups_apart() {
        for (m, n) in [(1, 1), (3, 3), (7, 7), (11, 5)] {
            let low: Vec<f64> = (0..m).map(f64::from).collect();
            let high: Vec<f64> = (0..n).map(|i| f64::from(i) + 100.0).collect();
            let found = rank_test(&low, &high).unwrap();
            assert!((found.p - found.least_p).abs() < 1e-12, "{m} {n} {found:?}");
        }
    }

    #[test]
    fn the_approximation_is_close_where_both_can_be_had() {
        let a: Vec<f64> = (0..20).map(|i| f64::from(i * 7 % 20)).collect();
        let b: Vec<f64> = (0..20).map(|i| f64::from(i * 3 % 20) + 5.5).collect();
        let u = pairs(&a, &b, |x, y| y < x) as f64;
        let (exact, close) = (p(&a, &b), approximation(&a, &b, u));
        assert!((exact / close - 1.0).abs() < 0.2, "{exact} {close}");
        // Groups that are all one value say nothing.
        assert_eq!(p(&[1.0; 5], &[1.0; 5]), 1.0);
        assert!(p(&[1.0; 30], &[2.0; 30]) < 1e-6);
        assert_eq!(rank_test(&[], &[1.0]), None);
    }

    #[test]
    fn corrections_allow_for_the_number_of_comparisons() {
        let found = corrected(&[0.04, 0.01, 0.03]);
        let expected = [0.06, 0.03, 0.06];
        assert!(found.iter().zip(expected).all(|(a, b): (&f64, f64)| (a - b).abs() < 1e-12));
        assert_eq!(corrected(&[0.5, 0.9]), [1.0, 1.0]);
        assert!(corrected(&[]).is_empty());
    }
}
