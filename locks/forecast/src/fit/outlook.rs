//! All that a fit has to say, ready to be shown: forecasts, how far they can be trusted, the law's
//! own fit beside them, and the lock to take.

use kilocore_figures::usl::{self, Law};
use kilocore_figures::{Judged, Provenance};
use kilocore_locks::LockId;
use serde::Serialize;

use crate::fit::advice::advise;
use crate::fit::comparison::LawPoint;
use crate::fit::outlook_point::{OutlookCurve, OutlookPoint};
use crate::fit::straight::{self, Place, Placed};
use crate::fit::{
    Advice, Atlas, Fit, LeftOut, Measurement, Measurements, Pinned, Plausible, Refusal,
};

/// What an outlook is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// The curves, at least one.
    pub curves: &'a [Named],
    /// Numbers of cores, ascending, at least one.
    pub cores: &'a [u32],
}

/// A lock under one of its names: its own, or an alias from a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named {
    /// The lock itself, by whichever name it is meant.
    pub lock: LockId,
    /// The name by which it is meant, which is that of its curve.
    pub name: &'static str,
}

/// The universal scalability law of a lock that was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LockLaw {
    /// The lock's own name.
    pub lock: &'static str,
    /// The name under which it was measured, if that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// The universal scalability law, fitted to the measurements of this lock alone.
    #[serde(flatten)]
    pub law: Law,
    /// The number of cores with the highest throughput; none if there is no end to the rise.
    pub peak_cores: Option<f64>,
    /// The throughput by this law at each number of cores that is forecast.
    pub points: Vec<LawPoint>,
}

/// All that a fit has to say.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outlook {
    /// Always `simulated`: where the forecasts come from.
    pub provenance: Provenance,
    /// The name of the machine.
    pub machine: String,
    /// Seed of the simulations.
    pub seed: u64,
    /// Forecasts by curve, each by ascending cores.
    pub points: Vec<OutlookPoint>,
    /// How well each parameter of the workload is pinned down.
    pub pinned: Vec<Pinned>,
    /// The weightiest workloads that explain the measurements.
    pub plausible: Vec<Plausible>,
    /// What the weightiest of them leaves unexplained of the measurements, as a share of them.
    pub residual: f64,
    /// The universal scalability law of each lock that was measured on two core counts or more.
    pub usl: Vec<LockLaw>,
    /// Which lock to take, on how many cores.
    pub recommendation: Advice,
    /// What of the measurements was left out.
    pub left_out: Vec<LeftOut>,
}

/// Workloads that are listed.
const LISTED: usize = 10;

impl Named {
    /// A lock under the name as it was typed, or its own if that is none of its names.
    #[must_use]
    pub fn new(lock: LockId, typed: &str) -> Self {
        let info = lock.info();
        let names = std::iter::once(&info.name).chain(info.aliases);
        let name = names.copied().find(|name| name.eq_ignore_ascii_case(typed));
        Self { lock, name: name.unwrap_or(info.name) }
    }

    /// The curves to draw for some locks, which were typed so if they were: under the typed names,
    /// or those that the measurements use, or the lock's own.
    #[must_use]
    pub fn curves(locks: &[(LockId, Option<&str>)], measurements: &Measurements) -> Vec<Self> {
        let mut curves: Vec<Self> = Vec::new();
        for &(lock, typed) in locks {
            let typed = typed.map(|typed| Self::new(lock, typed));
            let of_lock = measurements.points.iter().filter(|point| point.lock == lock);
            let measured = of_lock.map(|point| Self::new(lock, point.name()));
            match typed.filter(|named| named.name != lock.name()) {
                Some(alias) => curves.push(alias),
                None => {
                    let before = curves.len();
                    curves.extend(measured);
                    if curves.len() == before {
                        curves.push(Self { lock, name: lock.name() });
                    }
                }
            }
        }
        let mut kept: Vec<Self> = Vec::new();
        curves.retain(|named| {
            let new = !kept.contains(named);
            kept.push(*named);
            new
        });
        curves
    }

    /// The name, if it is not the lock's own.
    #[must_use]
    pub fn alias(&self) -> Option<&'static str> {
        (self.name != self.lock.name()).then_some(self.name)
    }
}

/// What was measured of a lock, under this name if it was used, else under any.
fn measured<'a>(
    named: &'a Named,
    measurements: &'a Measurements,
) -> impl Iterator<Item = &'a Measurement> {
    let of_lock = || measurements.points.iter().filter(|point| point.lock == named.lock);
    let is_named = |point: &&Measurement| Named::new(point.lock, point.name()) == *named;
    let used = of_lock().any(|point| is_named(&point));
    of_lock().filter(move |point| !used || is_named(point))
}

impl Outlook {
    /// Forecasts each of the curves on each number of cores that are wanted.
    ///
    /// `progress` is told how many simulations are done of how many, from any thread.
    ///
    /// # Errors
    /// [`Refusal::Simulation`] if a point cannot be simulated.
    ///
    /// # Panics
    /// If there is no curve or no number of cores.
    pub fn new(
        fit: &Fit,
        atlas: &Atlas<'_>,
        measurements: &Measurements,
        asked: Wanted<'_>,
        progress: &(dyn Fn(u64, u64) + Sync),
    ) -> Result<Self, Refusal> {
        let Wanted { curves, cores } = asked;
        let given = given_names(measurements);
        // The locks that were measured are forecast where advice compares, even if not shown.
        let most = *cores.last().expect("there are cores");
        let mut wanted: Vec<Place> =
            curves.iter().flat_map(|c| cores.iter().map(|&cores| (c.lock, cores))).collect();
        wanted.extend(given.iter().map(|named| (named.lock, most)));
        wanted.sort_unstable();
        wanted.dedup();
        let edge = atlas.machine().topology.cores_per_node();
        let fixed = |(lock, cores): Place| {
            let mut there = measurements.points.iter().filter(|point| point.cores == cores);
            cores == edge || there.any(|point| point.lock == lock)
        };
        let placed = straight::forecast((fit, atlas), &wanted, &fixed, progress)?;
        let point = |named: &Named, cores: u32| {
            let Placed { estimate, interpolated } = placed[&(named.lock, cores)];
            let mut there = measured(named, measurements).filter(|point| point.cores == cores);
            let info = named.lock.info();
            let is_measured = given.iter().any(|given| given.lock == named.lock);
            OutlookPoint {
                lock: info.name,
                alias: named.alias().or(info.aliases.first().copied().filter(|_| !is_measured)),
                aliases: info.aliases,
                cores,
                throughput: estimate.throughput,
                low: estimate.low,
                high: estimate.high,
                given: there.next().map(|point| point.throughput),
                provenance: Provenance::Simulated,
                interpolated,
                name: named.name,
            }
        };
        let points: Vec<OutlookPoint> = curves
            .iter()
            .flat_map(|named| cores.iter().map(|&cores| point(named, cores)))
            .collect();
        let against: Vec<OutlookPoint> = given.iter().map(|named| point(named, most)).collect();
        let mut plausible = fit.plausible(atlas);
        plausible.truncate(LISTED);
        Ok(Self {
            provenance: Provenance::Simulated,
            machine: atlas.machine().name.clone(),
            seed: atlas.seed(),
            recommendation: advise(points.iter().filter(|point| point.cores == most), &against),
            points,
            pinned: fit.pinned(atlas),
            plausible,
            residual: fit.residual(),
            usl: given.iter().filter_map(|named| law(named, measurements, cores)).collect(),
            left_out: measurements.left_out.clone(),
        })
    }

    /// The points by curve.
    pub fn by_curve(&self) -> impl Iterator<Item = &[OutlookPoint]> {
        self.points.chunk_by(|a, b| a.name == b.name && a.lock == b.lock)
    }

    /// The forecast as curves, one for each lock.
    #[must_use]
    pub fn curves(&self) -> Vec<OutlookCurve> {
        let curve = |points: &[OutlookPoint]| {
            OutlookCurve::new(points[0].name, points.to_vec(), Judged::BY_LAST_CORES)
        };
        self.by_curve().map(curve).collect()
    }
}

/// The names under which locks were measured.
fn given_names(measurements: &Measurements) -> Vec<Named> {
    let mut names: Vec<Named> =
        measurements.points.iter().map(|point| Named::new(point.lock, point.name())).collect();
    names.dedup();
    names
}

/// The law of a lock that was measured on enough numbers of cores.
fn law(named: &Named, measurements: &Measurements, cores: &[u32]) -> Option<LockLaw> {
    let points: Vec<(f64, f64)> = measured(named, measurements)
        .map(|point| (f64::from(point.cores), point.throughput))
        .collect();
    let law = usl::fit(&points)?;
    let point = |&cores: &u32| LawPoint { cores, throughput: law.at(f64::from(cores)) };
    Some(LockLaw {
        lock: named.lock.name(),
        alias: named.alias().map(ToOwned::to_owned),
        law,
        peak_cores: law.peak(),
        points: cores.iter().map(point).collect(),
    })
}

#[cfg(test)]
mod tests {
    use kilocore_locks::LockId;

    use super::Named;
    use crate::fit::Measurements;

    #[test]
    fn curves_go_by_the_names_that_the_user_uses() {
        let csv = "lock,cores,throughput\npthread,6,1\nmcs_spin,6,1\nmcs-ls,6,1\nmcs_spin,12,1\n";
        let read = Measurements::parse(csv.as_bytes()).expect("measurements");
        let names = |locks: &[(LockId, Option<&str>)]| {
            Named::curves(locks, &read).into_iter().map(|named| named.name).collect::<Vec<_>>()
        };
        let all = [(LockId::Mcs, None), (LockId::Futex, None), (LockId::Cna, None)];
        assert_eq!(names(&all), ["mcs-ls", "mcs_spin", "pthread", "cna"]);
        let typed = [(LockId::Mcs, Some("mcs")), (LockId::Tas, Some("spinlock"))];
        assert_eq!(names(&typed), ["mcs-ls", "mcs_spin", "spinlock"]);
        assert_eq!(names(&[(LockId::Mcs, Some("MCS-LS"))]), ["mcs-ls"]);
    }
}
