//! The order in which a program is given more cores.

use std::collections::BTreeMap;
use std::path::Path;

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

/// Puts the processors of these numbers into the order of [`cores_first`]. Those of which the system does
/// not say where they are come last, as they stand.
#[must_use]
pub fn in_order_of_use(processors: &[CpuId]) -> Vec<CpuId> {
    let known = shape(Path::new(SYSTEM)).map(|shape| shape.processors);
    ordered(processors, &known.unwrap_or_default())
}

fn ordered(processors: &[CpuId], known: &[Processor]) -> Vec<CpuId> {
    let wanted = known.iter().filter(|place| processors.contains(&CpuId(place.cpu))).copied();
    let wanted: Vec<Processor> = wanted.collect();
    let mut order: Vec<CpuId> =
        cores_first(&wanted).into_iter().map(|place| CpuId(place.cpu)).collect();
    let unknown: Vec<CpuId> =
        processors.iter().filter(|cpu| !order.contains(cpu)).copied().collect();
    order.extend(unknown);
    order
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
            ordered(&cpus, &known).into_iter().map(|cpu| cpu.0).collect()
        };
        assert_eq!(order(&[0, 1, 2, 3]), [0, 1, 2, 3]);
        assert_eq!(order(&[0, 2, 3]), [0, 3, 2]);
        assert_eq!(order(&[9, 2, 1]), [2, 1, 9]);
    }
}
