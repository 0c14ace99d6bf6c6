//! Where the hardware threads of a machine are, and how far apart.

use crate::{Description, Topology};

/// A hardware thread, numbered in compact order: the first thread of every core, node by node, then
/// the second thread of every core, and so on. So the first `n` of them are those to which a
/// careful administrator pins `n` threads: all cores before any sibling, and near cores before far
/// ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HardwareThread(pub u32);

/// Where a hardware thread is. All numbers count over the whole machine, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Location {
    /// The processor package that it is in.
    pub socket: u32,
    /// The memory node that it belongs to.
    pub node: u32,
    /// The group of cores.
    pub group: u32,
    /// The physical core that it is a hardware thread of.
    pub core: u32,
    /// The thread in its core, from 0 to `threads_per_core` - 1.
    pub thread: u32,
}

/// How far apart two hardware threads are, nearest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Distance {
    /// Both are the same thread.
    SameThread,
    /// They are siblings on one core.
    SameCore,
    /// They are on different cores of one group.
    SameGroup,
    /// They are in different groups of one node.
    SameNode,
    /// They are on different nodes of one socket.
    SameSocket,
    /// They are on nodes of different sockets.
    Sockets {
        /// Number of links between their nodes, 1 or more.
        hops: u32,
    },
}

impl Topology {
    /// NUMA nodes in the machine.
    #[must_use]
    pub fn nodes(&self) -> u32 {
        self.sockets * self.nodes_per_socket
    }

    /// Cores in a node.
    #[must_use]
    pub fn cores_per_node(&self) -> u32 {
        self.groups_per_node * self.cores_per_group
    }

    /// Cores in the machine.
    #[must_use]
    pub fn cores(&self) -> u32 {
        self.nodes() * self.cores_per_node()
    }

    /// Hardware threads in the machine.
    #[must_use]
    pub fn hardware_threads(&self) -> u32 {
        self.cores() * self.threads_per_core
    }

    /// Returns the number of links between two nodes: 0 from a node to itself, and 1 between two
    /// nodes if no matrix is given.
    ///
    /// # Panics
    /// If there is a matrix and a node is beyond it.
    #[must_use]
    pub fn hops(&self, a: u32, b: u32) -> u32 {
        if self.hops.is_empty() { u32::from(a != b) } else { self.hops[a as usize][b as usize] }
    }

    /// Returns where a hardware thread is.
    ///
    /// # Panics
    /// If the machine has fewer threads.
    #[must_use]
    pub fn location(&self, of: HardwareThread) -> Location {
        assert!(
            of.0 < self.hardware_threads(),
            "hardware thread {} of {}",
            of.0,
            self.hardware_threads()
        );
        let (thread, core) = (of.0 / self.cores(), of.0 % self.cores());
        let group = core / self.cores_per_group;
        let node = group / self.groups_per_node;
        Location { socket: node / self.nodes_per_socket, node, group, core, thread }
    }

    /// Returns how far apart two hardware threads are.
    ///
    /// # Panics
    /// If the machine has fewer threads.
    #[must_use]
    pub fn distance(&self, a: HardwareThread, b: HardwareThread) -> Distance {
        let (x, y) = (self.location(a), self.location(b));
        if a == b {
            Distance::SameThread
        } else if x.core == y.core {
            Distance::SameCore
        } else if x.group == y.group {
            Distance::SameGroup
        } else if x.node == y.node {
            Distance::SameNode
        } else if x.socket == y.socket {
            Distance::SameSocket
        } else {
            Distance::Sockets { hops: self.hops(x.node, y.node) }
        }
    }
}

impl Description {
    /// Hardware threads in the machine.
    #[must_use]
    pub fn hardware_threads(&self) -> u32 {
        self.topology.hardware_threads()
    }

    /// Returns how much `threads` threads compute, as a multiple of what one computes alone. Each
    /// core gets one thread before any core gets a second.
    #[must_use]
    pub fn computing(&self, threads: u32) -> f64 {
        let cores = self.topology.cores();
        let second = f64::from(threads.saturating_sub(cores));
        let siblings = f64::from(self.topology.threads_per_core.saturating_sub(1).max(1));
        f64::from(threads.min(cores)) + second * (self.smt_throughput.value - 1.0) / siblings
    }

    /// Returns where a hardware thread is.
    ///
    /// # Panics
    /// If the machine has fewer threads.
    #[must_use]
    pub fn location(&self, of: HardwareThread) -> Location {
        self.topology.location(of)
    }

    /// Returns how far apart two hardware threads are.
    ///
    /// # Panics
    /// If the machine has fewer threads.
    #[must_use]
    pub fn distance(&self, a: HardwareThread, b: HardwareThread) -> Distance {
        self.topology.distance(a, b)
    }

    /// Returns the nanoseconds from a request by one thread until it has a line that the other
    /// thread has just written. Returns 0 from a thread to itself: that is a hit, whose time is in
    /// `caches`.
    ///
    /// # Panics
    /// If the machine has fewer threads.
    #[must_use]
    pub fn latency(&self, a: HardwareThread, b: HardwareThread) -> f64 {
        self.latency_at(self.distance(a, b))
    }

    /// Returns the latency in nanoseconds of the memory of node `home` for a core of `node`, with no
    /// other load.
    #[must_use]
    pub fn memory_latency_ns(&self, node: u32, home: u32) -> f64 {
        if node == home {
            return self.memory.local_ns.value;
        }
        let extra_hops = self.topology.hops(node, home).saturating_sub(1);
        self.memory.remote_ns.value + f64::from(extra_hops) * self.latency.per_hop_ns.value
    }

    /// Returns the same time for a distance.
    #[must_use]
    pub fn latency_at(&self, distance: Distance) -> f64 {
        let at = &self.latency;
        match distance {
            Distance::SameThread => 0.0,
            Distance::SameCore => at.same_core_ns.value,
            Distance::SameGroup => at.same_group_ns.value,
            Distance::SameNode => at.same_node_ns.value,
            Distance::SameSocket => at.same_socket_ns.value,
            Distance::Sockets { hops } => {
                at.other_socket_ns.value + f64::from(hops.saturating_sub(1)) * at.per_hop_ns.value
            }
        }
    }
}
