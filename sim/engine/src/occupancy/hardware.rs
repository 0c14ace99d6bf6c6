//! The caches and channels of a machine, in cycles of its clock.

use kilocore_machine::{Description, HardwareThread};

use crate::occupancy::units::Bytes;

/// What the model has to know of a machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Hardware {
    /// For each hardware thread, the last-level cache it uses.
    pub(crate) cache_of: Vec<usize>,
    /// For each hardware thread, its node.
    pub(crate) node_of: Vec<usize>,
    /// For each hardware thread, its core, whose private caches it uses.
    pub(crate) core_of: Vec<usize>,
    pub(crate) caches: usize,
    pub(crate) nodes: usize,
    pub(crate) cores: usize,
    /// Bytes of a last-level cache.
    pub(crate) capacity: Bytes,
    /// Bytes of a core's own caches.
    pub(crate) private: Bytes,
    pub(crate) line: Bytes,
    /// Cycles of a hit in the last-level cache.
    pub(crate) hit: f64,
    /// Cycles of a miss with idle channels, `[core's node * nodes + home]`.
    pub(crate) latency: Vec<f64>,
    /// Bytes per cycle that a node's channel carries.
    pub(crate) channel: f64,
    /// Bytes per cycle of the memory controller behind all channels, if there is one.
    pub(crate) controller: Option<f64>,
}

impl Hardware {
    /// The first `threads` hardware threads of a machine, in its compact order.
    ///
    /// A machine without last-level caches has the caches of its cores in their place: each is shared
    /// by what takes turns on the core.
    ///
    /// # Panics
    /// If the machine has fewer threads.
    #[must_use]
    pub fn new(machine: &Description, threads: u32) -> Self {
        let ghz = machine.clock_ghz.value;
        let topology = &machine.topology;
        let shared = machine.caches.shared_kib.value > 0.0;
        let groups = (topology.groups_per_node / machine.caches.shared_per_node.max(1)).max(1);
        let places: Vec<_> =
            (0..threads).map(|thread| machine.location(HardwareThread(thread))).collect();
        let cache = |place: &kilocore_machine::Location| {
            if shared { place.group / groups } else { place.core }
        };
        let nodes = topology.nodes();
        let latency = (0..nodes)
            .flat_map(|node| (0..nodes).map(move |home| (node, home)))
            .map(|(node, home)| machine.memory_latency_ns(node, home) * ghz)
            .collect();
        let kib = if shared { &machine.caches.shared_kib } else { &machine.caches.private_kib };
        let most = |of: &[usize]| of.iter().max().map_or(0, |most| most + 1);
        let cache_of: Vec<usize> = places.iter().map(|place| cache(place) as usize).collect();
        let core_of: Vec<usize> = places.iter().map(|place| place.core as usize).collect();
        Self {
            caches: most(&cache_of),
            cores: most(&core_of),
            node_of: places.iter().map(|place| place.node as usize).collect(),
            cache_of,
            core_of,
            nodes: nodes as usize,
            capacity: Bytes(kib.value * 1024.0),
            private: Bytes(machine.caches.private_kib.value * 1024.0),
            line: Bytes(f64::from(machine.caches.line_bytes)),
            hit: machine.caches.shared_hit_ns.value * ghz,
            latency,
            channel: machine.memory.bandwidth_gb_per_s.value / ghz,
            controller: machine
                .memory
                .shared_controller_gb_per_s
                .as_ref()
                .map(|figure| figure.value / ghz),
        }
    }

    /// How many hardware threads there are.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.cache_of.len()
    }

    /// Which last-level cache a hardware thread uses.
    ///
    /// # Panics
    /// If there is no such thread.
    #[must_use]
    pub fn cache_of(&self, thread: usize) -> usize {
        self.cache_of[thread]
    }

    /// How many last-level caches there are.
    #[must_use]
    pub fn caches(&self) -> usize {
        self.caches
    }

    /// Bytes of each last-level cache.
    #[must_use]
    pub fn capacity(&self) -> Bytes {
        self.capacity
    }

    /// The node whose channel carries a task's misses: the task's home, or the core's own bus where
    /// all buses lead to one memory.
    pub(crate) fn channel_of(&self, thread: usize, home: usize) -> usize {
        if self.controller.is_some() { self.node_of[thread] } else { home }
    }

    pub(crate) fn latency(&self, thread: usize, home: usize) -> f64 {
        self.latency[self.node_of[thread] * self.nodes + home]
    }
}
