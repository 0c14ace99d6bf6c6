//! What a machine file holds.

use serde::{Deserialize, Serialize};

/// A number and its origin. Exactly one of `source` and `estimated` is given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// The number, in the unit with which the name of the field ends.
    pub value: f64,
    /// The publication or measurement it was taken from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// How it was estimated, if nobody published it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated: Option<String>,
}

/// A machine as its file describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// The version of this format: 1.
    pub schema: u32,
    /// The name by which the command line knows the machine. The file has the same name.
    pub name: String,
    /// What it is, in a line.
    pub title: String,
    /// Its clock under load on all cores, in GHz. All cycles of a simulation are of this clock.
    pub clock_ghz: Figure,
    /// The throughput of a core with all its hardware threads busy, as a multiple of that with
    /// one of them busy: from 1 to [`Topology::threads_per_core`], and 1 where that is 1. A thread
    /// whose siblings are all busy therefore runs at `smt_throughput / threads_per_core` of its
    /// speed alone. It depends on what the threads run; this is a mean over ordinary programs.
    pub smt_throughput: Figure,
    /// What is inside what.
    pub topology: Topology,
    /// How long a cache line takes from one core to another, by their distance.
    pub latency: Latencies,
    /// What the coherence protocol adds.
    pub coherence: Coherence,
    /// The caches, their sizes in bytes.
    pub caches: Caches,
    /// Main memory: latency and bandwidth of a node.
    pub memory: Memory,
    /// Costs of the operating system.
    pub os: OperatingSystem,
    /// What a core draws in each state, in watts.
    pub power: Power,
}

/// What is inside what. Counts multiply: a machine has `sockets` × `nodes_per_socket` ×
/// `groups_per_node` × `cores_per_group` × `threads_per_core` hardware threads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topology {
    /// How many processor packages there are, from 1.
    pub sockets: u32,
    /// NUMA nodes (memory controllers, dies) in a socket.
    pub nodes_per_socket: u32,
    /// Groups of cores in a node that share a cache nearer than the rest of the node: a module,
    /// a tile, a core complex. 1 where the node's cores share one cache evenly.
    pub groups_per_node: u32,
    /// Cores in a group.
    pub cores_per_group: u32,
    /// Hardware threads in a core.
    pub threads_per_core: u32,
    /// Links between nodes, `hops[a][b]`: symmetric, 0 on the diagonal, at least 1 elsewhere.
    /// Nodes count socket by socket. Empty: one hop between any two. Between nodes, not
    /// sockets, as the dies of a package have links of their own: on four Opteron 6344 a die is
    /// one hop from one die of each other package and two from the other. Pairs within a
    /// socket cost [`Latencies::same_socket_ns`] whatever their hops.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hops: Vec<Vec<u32>>,
    /// Where these counts come from.
    pub source: String,
}

/// Nanoseconds from a core's request for a cache line that another core has just written until it
/// has the line, while no other core asks for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latencies {
    /// Between the hardware threads of a core.
    pub same_core_ns: Figure,
    /// Between cores of a group.
    pub same_group_ns: Figure,
    /// Between groups of a node.
    pub same_node_ns: Figure,
    /// Between nodes of a socket.
    pub same_socket_ns: Figure,
    /// Between nodes of different sockets, one hop apart.
    pub other_socket_ns: Figure,
    /// For each hop beyond the first.
    pub per_hop_ns: Figure,
}

/// What the coherence protocol adds to the bare latencies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Coherence {
    /// How long a line is busy at its home with each request to read it. Requests that arrive
    /// meanwhile wait their turn.
    pub line_service_ns: Figure,
    /// How long a core has a line to itself that it has got to write, although others ask for it. Without it, no longer than
    /// their requests are under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_hold_ns: Option<Figure>,
    /// 1 if a read takes a line over that another core has written, so that the reader can write it at once. 0 if both have
    /// a copy then, as without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub migratory_sharing: Option<Figure>,
    /// What each sharer to be invalidated adds to a write.
    pub invalidate_per_sharer_ns: Figure,
    /// How long the directory of a node is busy with a request for any of its lines.
    pub home_service_ns: Figure,
    /// What an atomic read-modify-write adds on a line that the core already owns.
    pub rmw_cycles: Figure,
    /// Time of one spin-loop hint (on x86 the instruction PAUSE, [`std::hint::spin_loop`]), with
    /// the core's other threads idle.
    pub pause_cycles: Figure,
}

/// The caches of each core and of each domain: their sizes, and how long accesses take that hit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caches {
    /// Size of a line in bytes.
    pub line_bytes: u32,
    /// Time of a hit in the nearest cache.
    pub hit_cycles: Figure,
    /// Capacity of the caches that a core has to itself, in KiB.
    pub private_kib: Figure,
    /// Capacity of the last-level cache of a domain, in KiB; 0 where there is none.
    pub shared_kib: Figure,
    /// How many last-level domains there are in a node: 1, or the number of groups.
    pub shared_per_node: u32,
    /// Time of a hit in the last-level cache.
    pub shared_hit_ns: Figure,
    /// 1 if a last-level cache serves its cores every line of which one of them has a clean copy. 0
    /// if such a read goes to the line's home.
    pub shared_finds_copies: Figure,
    /// 1 if the last-level cache holds every line that one of its cores holds, so that a line that
    /// leaves it leaves the cores' caches, too. 0 if it takes the lines that leave those. Without
    /// it the sizes of the caches decide: [`Caches::holds_private`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_holds_private: Option<Figure>,
    /// Time that each line of a block takes that is written from one end to the other and is in the
    /// core's own caches. Without it, [`Caches::OWN_LINE_CYCLES`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_line_cycles: Option<Figure>,
    /// How many lines of a block are on their way to a core at a time, those that its prefetchers
    /// ask for included. Without it, [`Caches::LINES_UNDER_WAY`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines_under_way: Option<Figure>,
}

impl Caches {
    /// Estimated for machines whose file does not say: as on Skylake, whose second-level cache takes
    /// 3 cycles for each line that is written (T. Downs, "Microcode Mystery", 2019).
    pub const OWN_LINE_CYCLES: f64 = 3.0;
    /// Estimated for machines whose file does not say: the line fill buffers of Intel's cores from
    /// Nehalem to Broadwell.
    pub const LINES_UNDER_WAY: f64 = 10.0;

    /// Whether the last-level cache of a domain with so many cores holds all that these hold.
    ///
    /// Where the file does not say, this is an estimate: a cache that holds all that is in others
    /// is much larger than those, or most of it would be wasted. The limit is four times as large:
    /// of the Intel machines that come with this crate, those whose cache holds all have eight times
    /// as much and more, and the others less than twice as much.
    #[must_use]
    pub fn holds_private(&self, cores: u32) -> bool {
        match &self.shared_holds_private {
            Some(figure) => figure.value >= 0.5,
            None => self.shared_kib.value >= 4.0 * self.private_kib.value * f64::from(cores),
        }
    }
}

/// Main memory: its latency, from its own node and from another one, and its bandwidth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Latency of the node's own memory.
    pub local_ns: Figure,
    /// Latency of another node's memory, one hop away.
    pub remote_ns: Figure,
    /// Bandwidth of one node, in GB/s (10^9 bytes).
    pub bandwidth_gb_per_s: Figure,
    /// Bandwidth of all nodes together, in GB/s, on a machine whose nodes are front-side buses that
    /// meet at one memory controller. Without it, each node has a memory of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_controller_gb_per_s: Option<Figure>,
}

/// Costs of the operating system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperatingSystem {
    /// Processor time of switching from one thread to another.
    pub context_switch_ns: Figure,
    /// Processor time of a futex system call that finds it need not wait, or that wakes nobody.
    pub futex_call_ns: Figure,
    /// 1 if the kernel's spin locks queue their waiters, as on x86 since Linux 4.2; 0 if they all
    /// watch one line. A futex's hash bucket has such a lock.
    pub queued_kernel_locks: Figure,
    /// 1 if a page fault shares a lock of its mapping only, as since Linux 6.4; 0, and without it, if it shares
    /// that of the whole address space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping_locks: Option<Figure>,
    /// 1 if who broadcasts a condition variable wakes one waiter and has the others wait for the mutex, as with glibc
    /// before 2.25; 0, and without it, if all are woken at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requeued_broadcasts: Option<Figure>,
    /// Processor time of the first touch of a page, besides zeroing it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_fault_ns: Option<Figure>,
    /// Processor time of mapping one more page of a file, of those around the one that is touched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_page_ns: Option<Figure>,
    /// Processor time of giving a page back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmap_page_ns: Option<Figure>,
    /// Time from one interrupt of a core that computes to the next, its timer's and others, in µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupt_every_us: Option<Figure>,
    /// How long one takes in the mean; 0 if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupt_ns: Option<Figure>,
    /// Processor time that waking one thread costs the waker.
    pub wake_ns: Figure,
    /// Time from that wake-up until the woken thread runs on a core that was idle.
    pub wake_latency_ns: Figure,
    /// How long a core takes to become idle after its last thread fell asleep. Who wakes a thread meanwhile sends no
    /// interrupt, and pays little.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_entry_ns: Option<Figure>,
    /// Time from there until a thread runs that was woken meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_return_ns: Option<Figure>,
    /// After how long an idle core goes to a deeper state, from which the wake takes longer, in µs;
    /// 0 if it never does.
    pub deep_idle_after_us: Figure,
    /// How much longer it takes, in nanoseconds.
    pub deep_idle_exit_ns: Figure,
    /// How long a thread runs before another that wants the core gets it.
    pub time_slice_us: Figure,
    /// Time to leave a low-power wait on a cache line once that line is written.
    pub low_power_exit_ns: Figure,
}

impl OperatingSystem {
    /// Estimated for machines whose file does not say: entry, lookup of the mapping, page table and exit take 0.3 to
    /// 1 µs on machines of the last fifteen years.
    pub const PAGE_FAULT_NS: f64 = 500.0;
    /// Estimated for machines whose file does not say: half of what a program of our own takes on a virtual machine
    /// (10 µs for 16 pages with a read of each, from a file in memory, Linux 6.18, 2.6 GHz).
    pub const FILE_PAGE_NS: f64 = 300.0;
    /// Estimated for machines whose file does not say. The same program takes 210 ns for a page of a file and 290 for
    /// another one.
    pub const UNMAP_PAGE_NS: f64 = 200.0;
    /// For machines whose file does not say: the timer of a kernel with 250 ticks in a second, as those of Debian.
    pub const INTERRUPT_EVERY_US: f64 = 4_000.0;
    /// Estimated for machines whose file does not say: a tick takes 1 to 5 µs, with what it throws out of the caches.
    pub const INTERRUPT_NS: f64 = 2_000.0;
}

/// Power of a core by what it does, in watts, and of the rest of the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Power {
    /// While it computes, in watts.
    pub active_w: Figure,
    /// Spinning on a line in its cache.
    pub spin_w: Figure,
    /// In a low-power wait.
    pub low_power_w: Figure,
    /// Idle in the operating system.
    pub idle_w: Figure,
    /// Everything of a socket but its cores.
    pub socket_w: Figure,
}
