//! Which lock to take, going by forecasts.

use kilocore_figures::Contenders;
use serde::Serialize;

use crate::fit::outlook_point::OutlookPoint;

/// The lock to take at the largest number of cores.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// The lock's own name.
    pub lock: &'static str,
    /// The name of its curve, if that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<&'static str>,
    /// That number of cores.
    pub cores: u32,
    /// The throughput that is forecast there, in the unit of the measurements.
    pub throughput: f64,
    /// The lower end of its band.
    pub low: f64,
    /// The upper end of the band of this throughput.
    pub high: f64,
    /// Against each lock that was measured, the largest gain first.
    pub gains: Vec<Gain>,
}

/// What taking the recommended lock is forecast to gain over one that was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gain {
    /// The lock's own name.
    pub lock: &'static str,
    /// The name under which it was measured, if that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<&'static str>,
    /// Throughput under the recommended lock as a multiple of that under this one.
    pub gain: f64,
    /// Whether the bands of the two do not overlap.
    pub sure: bool,
}

/// Curves that end within this factor of the best one's end are as good as it.
const AS_GOOD: f64 = 1.0 / 0.97;

/// The lock with the highest throughput at the end; of those that are as good, the one whose
/// band's lower end is highest.
pub(crate) fn advise<'a>(
    ends: impl Iterator<Item = &'a OutlookPoint>,
    against: &[OutlookPoint],
) -> Advice {
    let contenders = Contenders::among(ends, |end| end.throughput, AS_GOOD);
    let surest = |contenders: Contenders<'a, OutlookPoint>| {
        contenders.preferred(|a, b| b.low.total_cmp(&a.low))
    };
    let best = contenders.and_then(surest).expect("there are curves");
    let gain = |other: &OutlookPoint| Gain {
        lock: other.lock,
        alias: (other.name != other.lock).then_some(other.name),
        gain: best.throughput / other.throughput,
        sure: best.low > other.high,
    };
    let mut gains: Vec<Gain> = against.iter().map(gain).collect();
    gains.sort_by(|a, b| b.gain.total_cmp(&a.gain));
    Advice {
        lock: best.lock,
        alias: (best.name != best.lock).then_some(best.name),
        cores: best.cores,
        throughput: best.throughput,
        low: best.low,
        high: best.high,
        gains,
    }
}

#[cfg(test)]
mod tests {
    use kilocore_figures::Provenance;
    use kilocore_locks::LockId;

    use super::advise;
    use crate::fit::OutlookPoint;

    fn end(lock: LockId, throughput: f64, low: f64, high: f64) -> OutlookPoint {
        OutlookPoint {
            lock: lock.name(),
            alias: None,
            aliases: lock.info().aliases,
            cores: 48,
            throughput,
            low,
            high,
            given: None,
            provenance: Provenance::Simulated,
            interpolated: false,
            name: lock.name(),
        }
    }

    #[test]
    fn of_equally_good_locks_the_surer_one_is_recommended() {
        let ends = [
            end(LockId::Mcs, 100.0, 50.0, 200.0),
            end(LockId::Cna, 98.0, 90.0, 105.0),
            end(LockId::Ticket, 20.0, 15.0, 95.0),
        ];
        let advice = advise(ends.iter(), &ends[1..]);
        assert_eq!(advice.lock, "cna");
        assert_eq!(advice.gains[0].lock, "ticket");
        assert!((advice.gains[0].gain - 4.9).abs() < 1e-12 && !advice.gains[0].sure);
    }
}
