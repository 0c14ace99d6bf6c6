//! The order in which a program is given more cores.

use std::collections::BTreeMap;
use std::path::Path;

use crate::speed::speeds;
use crate::{CpuId, Processor, SYSTEM, shape};

/// Puts processors into the order in which the threads of a core follow each other, one node after the
/// other.
#[must_use]
pub fn siblings_together(processors: &[Processor]) -> Vec<Processor> {
    let mut order = processors.to_vec();
    order.sort_by_key(|place| (place.socket, place.node, place.group, place.core, place.cpu));
    order
}

/// Puts processors into the order in which something is given more of them: one node after the other, and
/// the second hardware threads of all cores last.
#[must_use]
pub fn cores_first(processors: &[Processor]) -> Vec<Processor> {
    let mut met: BTreeMap<u32, u32> = BTreeMap::new();
    let turn = |place: Processor| {
        let threads = met.entry(place.core).or_default();
        *threads += 1;
        (*threads, place)
    };
    let mut order: Vec<_> = siblings_together(processors).into_iter().map(turn).collect();
    // The sort is stable, so that the order within a turn stays.
    order.sort_by_key(|&(turn, _)| turn);
    order.into_iter().map(|(_, place)| place).collect()
}

/// A hardware thread that a program may be given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HardwareThread {
    /// The number that Linux gives it.
    pub cpu: CpuId,
    /// The physical core that it belongs to, counted over the machine. Nothing if the system does not say.
    pub core: Option<u32>,
    /// How fast it is, as a share of the fastest of those that it is among. Nothing if the system does not
    /// say it of all of them.
    pub speed: Option<f64>,
}

/// What the system says of the processors of these numbers, in the order in which a program is given more of
/// them: the fastest cores first, those of a speed in the order of [`cores_first`], and the second hardware
/// threads of all cores last. Processors of which the system does not say where they are come at the end.
#[must_use]
pub fn hardware_threads(processors: &[CpuId]) -> Vec<HardwareThread> {
    let known = shape(Path::new(SYSTEM)).map(|shape| shape.processors);
    ordered(processors, &known.unwrap_or_default(), &speeds(Path::new(SYSTEM), processors))
}

/// The numbers of [`hardware_threads`].
#[must_use]
pub fn in_order_of_use(processors: &[CpuId]) -> Vec<CpuId> {
    hardware_threads(processors).into_iter().map(|thread| thread.cpu).collect()
}

fn ordered(
    processors: &[CpuId],
    known: &[Processor],
    speeds: &BTreeMap<CpuId, f64>,
) -> Vec<HardwareThread> {
    let wanted = known.iter().filter(|place| processors.contains(&CpuId(place.cpu))).copied();
    let wanted: Vec<Processor> = wanted.collect();
    let mut order: Vec<HardwareThread> = cores_first(&wanted)
        .into_iter()
        .map(|place| (CpuId(place.cpu), Some(place.core)))
        .map(|(cpu, core)| HardwareThread { cpu, core, speed: speeds.get(&cpu).copied() })
        .collect();
    let mut met: BTreeMap<Option<u32>, u32> = BTreeMap::new();
    // The sort is stable: what is equally fast stays in its order.
    order.sort_by_cached_key(|thread| {
        let turn = met.entry(thread.core).or_default();
        *turn += 1;
        (*turn, std::cmp::Reverse(thread.speed.map(speed_class)))
    });
    let unknown: Vec<CpuId> = processors
        .iter()
        .filter(|cpu| order.iter().all(|thread| thread.cpu != **cpu))
        .copied()
        .collect();
    order.extend(unknown.into_iter().map(|cpu| HardwareThread {
        cpu,
        core: None,
        speed: speeds.get(&cpu).copied(),
    }));
    order
}

/// Speeds that hardly differ are of one class: some cores of a kind may reach a slightly higher frequency.
fn speed_class(speed: f64) -> u32 {
    (speed * 8.0).round() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_threads_come_last_and_what_is_unknown_after_them() {
        // Two sockets of a core with two threads each: 0 and 2, 1 and 3.
        let at = |cpu, socket| Processor { cpu, socket, node: socket, group: socket, core: socket };
        let known = [at(0, 0), at(1, 1), at(2, 0), at(3, 1)];
        let order = |cpus: &[u32]| -> Vec<u32> {
            let cpus: Vec<CpuId> = cpus.iter().copied().map(CpuId).collect();
            let order = ordered(&cpus, &known, &BTreeMap::new());
            order.into_iter().map(|thread| thread.cpu.0).collect()
        };
        assert_eq!(order(&[0, 1, 2, 3]), [0, 1, 2, 3]);
        assert_eq!(order(&[0, 2, 3]), [0, 3, 2]);
        assert_eq!(order(&[9, 2, 1]), [2, 1, 9]);
    }

    #[test]
    fn fast_cores_come_before_slow_ones_and_these_before_second_threads() {
        // A fast core with two threads, 2 and 3, behind two slow ones, 0 and 1.
        let at = |cpu, core| Processor { cpu, socket: 0, node: 0, group: 0, core };
        let known = [at(0, 0), at(1, 1), at(2, 2), at(3, 2)];
        let speeds =
            [(0, 0.5), (1, 0.51), (2, 0.97), (3, 1.0)].map(|(cpu, speed)| (CpuId(cpu), speed));
        let cpus: Vec<CpuId> = (0..4).map(CpuId).collect();
        let order = ordered(&cpus, &known, &BTreeMap::from(speeds));
        let told: Vec<_> = order.iter().map(|thread| (thread.cpu.0, thread.core)).collect();
        assert_eq!(told, [(2, Some(2)), (0, Some(0)), (1, Some(1)), (3, Some(2))]);
        assert_eq!(order[1].speed, Some(0.5));
    }

    #[test]
    fn those_of_this_host_are_all_there() {
        let allowed: Vec<CpuId> = crate::affinity(0).expect("it is allowed").iter().collect();
        let mut order = in_order_of_use(&allowed);
        order.sort_unstable();
        assert_eq!(order, allowed);
    }
}
