//! A machine file, turned into cycles.

use kilocore_machine::{Caches, Description, Distance, Figure, OperatingSystem};
use kilocore_platform::{Cycles, NodeId};

use crate::ids::{CacheId, DomainId, GroupId, Id, SocketId};

/// Where a core is in the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CoreLocation {
    pub(crate) cache: CacheId,
    pub(crate) group: GroupId,
    /// The last-level cache that the core shares.
    pub(crate) domain: DomainId,
    pub(crate) node: NodeId,
    pub(crate) socket: SocketId,
}

/// What things cost on a machine, in cycles of its clock.
#[derive(Debug, Clone)]
pub(crate) struct Costs {
    pub(crate) clock_ghz: f64,
    pub(crate) line_shift: u32,
    pub(crate) hit: Cycles,
    pub(crate) rmw: Cycles,
    pub(crate) shared_hit: Cycles,
    pub(crate) same_core: Cycles,
    pub(crate) same_group: Cycles,
    pub(crate) same_node: Cycles,
    /// Latency between nodes, `[from * nodes + to]`.
    between_nodes: Vec<Cycles>,
    memory: Vec<Cycles>,
    pub(crate) nodes: usize,
    pub(crate) line_service: Cycles,
    /// How long a core has a line to itself that it has got to write.
    pub(crate) write_hold: Cycles,
    /// Whether a read takes a line over that another core has written.
    pub(crate) migratory_sharing: bool,
    /// Whether last-level caches serve reads of what their cores have copies of.
    pub(crate) finds_copies: bool,
    pub(crate) invalidate_per_sharer: Cycles,
    pub(crate) home_service: Cycles,
    /// How long one line takes on a node's memory channels.
    line_on_channel: f64,
    /// How long a line of a block takes that is in the core's own caches.
    pub(crate) own_line: f32,
    /// How many lines of a block are on their way to a core at a time.
    pub(crate) lines_under_way: f32,
    pub(crate) private_lines: u32,
    pub(crate) shared_lines: u32,
    /// Whether last-level caches hold all that their cores' own caches hold.
    pub(crate) holds_private: bool,
    pub(crate) context_switch: Cycles,
    pub(crate) futex_call: Cycles,
    /// Whether all who want a futex's bucket watch one line.
    pub(crate) shared_bucket: bool,
    /// Whether a page fault shares a lock of its mapping only.
    pub(crate) faults_apart: bool,
    /// The first touch of a page, besides zeroing it.
    pub(crate) page_fault: Cycles,
    /// One more page of a file, of those around the one that is touched.
    pub(crate) file_page: Cycles,
    /// Giving a page back.
    pub(crate) unmap_page: Cycles,
    /// From one interrupt of a core to the next.
    pub(crate) interrupt_every: Cycles,
    /// How long one takes in the mean.
    pub(crate) interrupt: Cycles,
    pub(crate) wake: Cycles,
    pub(crate) wake_latency: Cycles,
    /// Until a core is idle that its last thread has left.
    pub(crate) idle_entry: Cycles,
    /// From there until a thread runs that was woken meanwhile.
    pub(crate) idle_return: Cycles,
    /// A core that is idle for longer takes longer to wake.
    pub(crate) deep_idle_after: Cycles,
    pub(crate) deep_idle_exit: Cycles,
    pub(crate) time_slice: Cycles,
    pub(crate) low_power_exit: Cycles,
    /// One turn of a spin loop.
    pub(crate) pause: Cycles,
    /// How long a waiter spins before it offers its core to others.
    pub(crate) spin_before_yield: Cycles,
    /// How long it spins before it offers it again.
    pub(crate) spin_between_yields: Cycles,
    /// How much longer computing takes while all hardware threads of the core are busy.
    pub(crate) shared_core_stretch: f64,
    /// How many other hardware threads a physical core has, at least one.
    pub(crate) siblings: u8,
    /// How far a core may run ahead on lines of its own.
    pub(crate) lookahead: Cycles,
}

impl Costs {
    pub(crate) fn new(machine: &Description) -> Self {
        let ghz = machine.clock_ghz.value;
        let round = |cycles: f64| Cycles(cycles.round() as u64);
        let ns = |ns: f64| round(ns * ghz);
        let cycles = |figure: &Figure| ns(figure.value);
        let line_bytes = f64::from(machine.caches.line_bytes);
        let lines = |kib: &Figure| (kib.value * 1024.0 / line_bytes) as u32;
        let line_on_channel = line_bytes / machine.memory.bandwidth_gb_per_s.value * ghz;
        let pause = machine.coherence.pause_cycles.value;
        let nodes = machine.topology.nodes() as usize;
        let caches = &machine.caches;
        let or = |figure: &Option<Figure>, estimate| figure.as_ref().map_or(estimate, |f| f.value);
        let domains = machine.topology.nodes() * caches.shared_per_node.max(1);
        let cores_per_domain = machine.topology.cores() / domains.max(1);
        let pairs = |cost: &dyn Fn(u32, u32) -> f64| {
            (0..nodes as u32)
                .flat_map(|a| (0..nodes as u32).map(move |b| (a, b)))
                .map(|(a, b)| round(cost(a, b) * ghz))
                .collect::<Vec<Cycles>>()
        };
        Self {
            clock_ghz: ghz,
            line_shift: machine.caches.line_bytes.trailing_zeros(),
            hit: round(machine.caches.hit_cycles.value),
            rmw: round(machine.coherence.rmw_cycles.value),
            shared_hit: cycles(&machine.caches.shared_hit_ns),
            same_core: cycles(&machine.latency.same_core_ns),
            same_group: cycles(&machine.latency.same_group_ns),
            same_node: cycles(&machine.latency.same_node_ns),
            between_nodes: pairs(&|a, b| machine.latency_at(node_distance(machine, a, b))),
            memory: pairs(&|a, b| machine.memory_latency_ns(a, b)),
            nodes,
            line_service: cycles(&machine.coherence.line_service_ns),
            write_hold: ns(or(&machine.coherence.write_hold_ns, 0.0)),
            migratory_sharing: or(&machine.coherence.migratory_sharing, 0.0) >= 0.5,
            finds_copies: machine.caches.shared_finds_copies.value >= 0.5,
            invalidate_per_sharer: cycles(&machine.coherence.invalidate_per_sharer_ns),
            home_service: cycles(&machine.coherence.home_service_ns),
            line_on_channel,
            own_line: or(&caches.own_line_cycles, Caches::OWN_LINE_CYCLES) as f32,
            lines_under_way: or(&caches.lines_under_way, Caches::LINES_UNDER_WAY) as f32,
            private_lines: lines(&caches.private_kib),
            shared_lines: lines(&caches.shared_kib),
            holds_private: caches.holds_private(cores_per_domain),
            context_switch: cycles(&machine.os.context_switch_ns),
            futex_call: cycles(&machine.os.futex_call_ns),
            shared_bucket: machine.os.queued_kernel_locks.value < 0.5,
            faults_apart: or(&machine.os.mapping_locks, 0.0) >= 0.5,
            page_fault: ns(or(&machine.os.page_fault_ns, OperatingSystem::PAGE_FAULT_NS)),
            file_page: ns(or(&machine.os.file_page_ns, OperatingSystem::FILE_PAGE_NS)),
            unmap_page: ns(or(&machine.os.unmap_page_ns, OperatingSystem::UNMAP_PAGE_NS)),
            interrupt_every: ns(
                1000.0 * or(&machine.os.interrupt_every_us, OperatingSystem::INTERRUPT_EVERY_US)
            ),
            interrupt: ns(or(&machine.os.interrupt_ns, OperatingSystem::INTERRUPT_NS)),
            wake: cycles(&machine.os.wake_ns),
            wake_latency: cycles(&machine.os.wake_latency_ns),
            idle_entry: ns(or(&machine.os.idle_entry_ns, 0.0)),
            idle_return: ns(or(&machine.os.idle_return_ns, 0.0)),
            deep_idle_after: match machine.os.deep_idle_after_us.value {
                0.0 => NEVER,
                us => round(us * 1000.0 * ghz),
            },
            deep_idle_exit: cycles(&machine.os.deep_idle_exit_ns),
            time_slice: round(machine.os.time_slice_us.value * 1000.0 * ghz),
            low_power_exit: cycles(&machine.os.low_power_exit_ns),
            pause: round(pause),
            spin_before_yield: Cycles((pause * TURNS_BEFORE_YIELD) as u64),
            spin_between_yields: Cycles((pause * TURNS_BETWEEN_YIELDS) as u64),
            shared_core_stretch: f64::from(machine.topology.threads_per_core)
                / machine.smt_throughput.value,
            siblings: machine.topology.threads_per_core.saturating_sub(1).clamp(1, 255) as u8,
            lookahead: cycles(&machine.latency.same_group_ns),
        }
    }

    /// The time that a line takes from one cache to another.
    #[inline]
    pub(crate) fn transfer(&self, from: CoreLocation, to: CoreLocation) -> Cycles {
        if from.cache == to.cache {
            self.same_core
        } else if from.node != to.node {
            self.between(from.node, to.node)
        } else if from.group == to.group {
            self.same_group
        } else {
            self.same_node
        }
    }

    /// The time that a clean line takes from within the node.
    #[inline]
    pub(crate) fn copy_in_node(&self) -> Cycles {
        self.same_node.min(self.shared_hit.max(Cycles(1)))
    }

    /// The time that a line takes between caches of two nodes, which may be the same node.
    #[inline]
    pub(crate) fn between(&self, from: NodeId, to: NodeId) -> Cycles {
        self.between_nodes[from.index() * self.nodes + to.index()]
    }

    /// The time that a line takes from the memory of `home` to a core of another node, or of `home`.
    #[inline]
    pub(crate) fn memory(&self, core: NodeId, home: NodeId) -> Cycles {
        self.memory[core.index() * self.nodes + home.index()]
    }
}

/// Memory's channels and the links between nodes.
impl Costs {
    /// How long one line keeps the channels of its home busy.
    pub(crate) fn memory_service(&self) -> Cycles {
        Cycles(self.line_on_channel.ceil() as u64)
    }

    /// How long lines keep the channels of their home busy.
    pub(crate) fn on_channel(&self, lines: u32) -> Cycles {
        times(lines, self.line_on_channel)
    }

    /// How long lines keep the link between two nodes busy.
    pub(crate) fn on_link(&self, lines: u32) -> Cycles {
        times(lines, self.line_on_link())
    }

    /// How long lines take between the memory of `home` and a core of `from` that nothing else
    /// limits.
    pub(crate) fn stream(&self, from: NodeId, home: NodeId, lines: u32) -> Cycles {
        times(lines, self.line_in_stream(from, home))
    }

    /// How long one line takes on the way from another node's memory.
    fn line_on_link(&self) -> f64 {
        self.line_on_channel / LINK_SHARE
    }

    /// The same as [`Self::stream`] for one of many lines.
    pub(crate) fn line_in_stream(&self, from: NodeId, home: NodeId) -> f64 {
        if from == home {
            self.line_on_channel
        } else {
            self.line_on_channel.max(self.line_on_link())
        }
    }
}

/// The time of many, of which each takes `each`.
pub(crate) fn times(many: u32, each: f64) -> Cycles {
    Cycles((f64::from(many) * each).round() as u64)
}

fn node_distance(machine: &Description, a: u32, b: u32) -> Distance {
    let per_socket = machine.topology.nodes_per_socket;
    if a == b {
        Distance::SameNode
    } else if a / per_socket == b / per_socket {
        Distance::SameSocket
    } else {
        Distance::Sockets { hops: machine.topology.hops(a, b) }
    }
}

/// What the cores of one node can read from another node's memory, as a share of that memory's
/// bandwidth. Estimated for all machines from one: MCTOP's description of a four-socket Xeon has
/// 12.5 to 12.8 GB/s from another socket's memory where a socket reads 38.8 to 39.1 of its own.
const LINK_SHARE: f64 = 0.325;
/// Later than any simulation lasts. Whoever adds it to a time has to let the sum saturate.
pub(crate) const NEVER: Cycles = Cycles::MAX;
/// The longest time that one step may take. Added to the longest time that a simulation lasts, it is
/// still far from the last cycle that a clock can count.
pub(crate) const LONGEST_STEP: Cycles = Cycles(1 << 61);
/// Turns that a waiter spins before it offers its core to others, as natively.
const TURNS_BEFORE_YIELD: f64 = 4096.0;
/// Turns between later offers, as natively.
const TURNS_BETWEEN_YIELDS: f64 = 256.0;
