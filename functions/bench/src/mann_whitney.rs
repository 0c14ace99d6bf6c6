//! Whether one group of samples is higher than another: the test of Mann and Whitney.
//!
//! The test looks only at the order of the samples, so that an outlier weighs no more than its
//! rank. For small groups without ties, the probability is exact. For others it comes from the
//! normal approximation, with the correction for ties.
//!
//! The crate `statrs` has this test too. For the exact probability, however, it counts every
//! arrangement, which would take hours for two groups of twenty. Left to choose, it approximates as
//! soon as both groups have more than eight samples, and a usual run has eleven.

/// The result of the test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RankTest {
    /// The probability that two groups from the same distribution are at least so far apart, in
    /// either direction.
    pub(crate) p: f64,
    /// The smallest probability that groups of these sizes can have. It is that of groups of which
    /// one is all above the other.
    pub(crate) least_p: f64,
}

/// The largest product of the sizes for which the exact probability is worked out.
const EXACT: usize = 3600;

/// Compares two groups. Returns `None` if one of them is empty.
pub(crate) fn rank_test(a: &[f64], b: &[f64]) -> Option<RankTest> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let (higher, ties) = (pairs(a, b, |x, y| y > x), pairs(a, b, |x, y| x == y));
    let all = a.len() * b.len();
    let u = higher as f64 + ties as f64 / 2.0;
    let smaller = u.min(all as f64 - u);
    let p = if all <= EXACT && !has_ties(a, b) {
        // `smaller` is a whole number, because there are no ties.
        let at_most = smaller as usize;
        2.0 * chances(a.len(), b.len())[..=at_most].iter().sum::<f64>()
    } else {
        approximation(a, b, smaller)
    };
    // Of all arrangements, two are the farthest apart: either group may be all below the other.
    let arrangements = (1..=a.len()).map(|i| (b.len() + i) as f64 / i as f64).product::<f64>();
    Some(RankTest { p: p.min(1.0), least_p: (2.0 / arrangements).min(1.0) })
}

fn pairs(a: &[f64], b: &[f64], count: fn(f64, f64) -> bool) -> usize {
    a.iter().map(|&x| b.iter().filter(|&&y| count(x, y)).count()).sum()
}

fn pooled(a: &[f64], b: &[f64]) -> Vec<f64> {
    kilocore_figures::ascending(a.iter().chain(b).copied())
}

fn has_ties(a: &[f64], b: &[f64]) -> bool {
    pooled(a, b).windows(2).any(|pair| pair[0] == pair[1])
}

/// Returns the distribution of the statistic U if all orders are equally likely: at index `u`, the
/// probability that in `u` pairs of a sample of each group, the one of the first group is higher.
///
/// The recursion looks at the highest of all samples. It is of the first group with a probability
/// of `first / (first + second)`. Then it is higher in `second` pairs, and the other samples have
/// the remaining ones. Otherwise it is of the second group, and adds no pair.
fn chances(first: usize, second: usize) -> Vec<f64> {
    // At index `m`: the distribution for groups of `m` and `n` samples.
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

/// Returns the two-sided probability by the normal approximation, corrected for ties and for
/// continuity.
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

/// Corrects probabilities for the number of comparisons, by the method of Holm. The result has the
/// order of the input.
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
        // One exchange away from that, two orders are at least so far apart, in each direction.
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
