//! The Zipf distribution: the page of rank *n* is used in proportion to *n* to the power of a negative
//! exponent.

/// A Zipf distribution over ranks from 0.
#[derive(Debug)]
pub struct Zipf {
    /// The chance of each rank and of all before it together.
    up_to: Vec<f64>,
    /// By the upper bits of a chance, the first rank that it can mean.
    first: Vec<u32>,
}

/// So many parts the chances are cut into, so that few ranks are left to search.
const PARTS: usize = 1 << 16;

impl Zipf {
    /// Returns the distribution over `ranks` ranks.
    ///
    /// # Panics
    /// If there are none.
    #[must_use]
    pub fn new(ranks: u32, exponent: f64) -> Self {
        assert!(ranks > 0, "there has to be something to choose from");
        let mut sum = 0.0;
        let mut up_to: Vec<f64> = (1..=ranks)
            .map(|rank| {
                sum += f64::from(rank).powf(-exponent);
                sum
            })
            .collect();
        up_to.iter_mut().for_each(|chance| *chance /= sum);
        let mut rank = 0;
        let first = (0..=PARTS).map(|part| {
            let least = part as f64 / PARTS as f64;
            while rank + 1 < up_to.len() && up_to[rank] <= least {
                rank += 1;
            }
            rank as u32
        });
        Self { first: first.collect(), up_to }
    }

    /// Returns the rank that a number from 0 to less than 1 means.
    #[must_use]
    pub fn rank(&self, at: f64) -> u32 {
        let part = (at * PARTS as f64) as usize;
        let (low, high) = (self.first[part], self.first[part + 1]);
        let among = &self.up_to[low as usize..high as usize];
        low + among.partition_point(|chance| *chance <= at) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_come_as_often_as_they_should() {
        let zipf = Zipf::new(100, 1.0);
        let draws = 1_000_000;
        let mut counts = [0_u32; 100];
        for draw in 0..draws {
            counts[zipf.rank(f64::from(draw) / f64::from(draws)) as usize] += 1;
        }
        let all: f64 = (1..=100).map(|rank| 1.0 / f64::from(rank)).sum();
        for (rank, count) in (1..).zip(counts) {
            let expected = f64::from(draws) / f64::from(rank) / all;
            assert!((f64::from(count) - expected).abs() <= 2.0, "rank {rank}: {count}, {expected}");
        }
    }
}
