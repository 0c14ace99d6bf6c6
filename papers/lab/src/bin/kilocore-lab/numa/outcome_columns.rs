//! The columns that all points of policies have.

use kilocore_placement::{Outcome, Setting};
use kilocore_show::{Points, PointsBuilder, Provenance, Unit};

/// Begins with the machine.
pub(super) fn on_nodes<P>(
    points: impl IntoIterator<Item = P>,
    machine: &str,
    setting: &Setting,
) -> PointsBuilder<P> {
    Points::of(Provenance::Simulated, points)
        .same("machine", Unit::Name, machine)
        .same("cpus", Unit::Count, setting.options.processors())
        .same("nodes", Unit::Count, setting.options.nodes)
}

/// Adds what a policy came to.
pub(super) fn outcome<P>(points: PointsBuilder<P>, of: fn(&P) -> &Outcome) -> PointsBuilder<P> {
    points
        .each("policy", Unit::Name, |point| of(point).policy.name())
        .each("delay", Unit::Count, |point| of(point).delay)
        .each("namc", Unit::Cycles, |point| of(point).namc)
        .each("replications", Unit::Count, |point| of(point).replications)
        .each("updates", Unit::Count, |point| of(point).updates)
        .each("drops", Unit::Count, |point| of(point).counts.drops)
        .each("migrations", Unit::Count, |point| of(point).counts.migrations)
        .each("remote_reads", Unit::Count, |point| of(point).counts.remote_reads)
        .each("references", Unit::Count, |point| of(point).counts.references())
}
