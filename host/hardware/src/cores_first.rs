//! The order in which a program is given more cores.

use std::collections::BTreeMap;
use std::path::Path;

use crate::{CpuId, Processor, SYSTEM, shape};

/// Puts these processors into the order in which a program is given more of them: one node after the
/// other, and the second hardware threads of all cores last. Without what the system says of them, they
/// stay as they are.
#[must_use]
pub fn cores_first(processors: &[CpuId]) -> Vec<CpuId> {
    match shape(Path::new(SYSTEM)) {
        Ok(shape) => ordered(processors, &shape.processors),
        Err(_) => processors.to_vec(),
    }
}

fn ordered(processors: &[CpuId], known: &[Processor]) -> Vec<CpuId> {
    let mut known: Vec<_> = known.iter().filter(|p| processors.contains(&CpuId(p.cpu))).collect();
    known.sort_by_key(|p| (p.socket, p.node, p.group, p.core, p.cpu));
    let mut threads: BTreeMap<u32, u32> = BTreeMap::new();
    let mut turns: Vec<(u32, CpuId)> = Vec::new();
    for processor in known {
        let of_core = threads.entry(processor.core).or_default();
        turns.push((*of_core, CpuId(processor.cpu)));
        *of_core += 1;
    }
    turns.sort_by_key(|(turn, _)| *turn);
    let mut order: Vec<CpuId> = turns.into_iter().map(|(_, cpu)| cpu).collect();
    let unknown = processors.iter().filter(|cpu| !order.contains(cpu)).copied();
    order.extend(unknown.collect::<Vec<_>>());
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
