//! The fields of a machine file. Each has a kind, bounds, and a line that explains it in a file
//! written by [`crate::Description::to_toml`].
//!
//! A value out of bounds must be a mistake. The bounds are wide on purpose: they are meant to catch
//! a wrong unit or a lost decimal point, and to let an unusual machine pass.

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    /// A string that is not blank.
    Text,
    /// A whole number from `low` to `high`.
    Count { low: u32, high: u32 },
    /// The matrix of hops between nodes. It may be absent.
    Hops,
    /// A number from `low` to `high`, with its source or how it was estimated.
    Figure { low: f64, high: f64 },
    /// The same, but it may be absent. An estimate then takes its place.
    Optional { low: f64, high: f64 },
}

/// A field of a machine file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    /// Its path: `section.name`, or the name alone for a field at the top of the file.
    pub(crate) path: &'static str,
    pub(crate) kind: Kind,
    /// What it means, in one line, with the unit.
    pub(crate) meaning: &'static str,
}

impl Field {
    /// Returns the section and the name in it: `("latency", "same_node_ns")`. The section is empty
    /// for a field at the top of the file.
    pub(crate) fn section_and_name(&self) -> (&'static str, &'static str) {
        self.path.split_once('.').unwrap_or(("", self.path))
    }
}

const fn text(path: &'static str, meaning: &'static str) -> Field {
    Field { path, kind: Kind::Text, meaning }
}

const fn count(path: &'static str, low: u32, high: u32, meaning: &'static str) -> Field {
    Field { path, kind: Kind::Count { low, high }, meaning }
}

const fn figure(path: &'static str, low: f64, high: f64, meaning: &'static str) -> Field {
    Field { path, kind: Kind::Figure { low, high }, meaning }
}

const fn optional(path: &'static str, low: f64, high: f64, meaning: &'static str) -> Field {
    Field { path, kind: Kind::Optional { low, high }, meaning }
}

/// The version of the machine file format. A file's field `schema` must have this value.
pub const SCHEMA: u32 = 1;

/// The largest number of hardware threads that a description may have.
pub(crate) const MOST_THREADS: u64 = 4096;

/// The largest number of hops between two nodes that a description may have.
pub const MOST_HOPS: u32 = 16;

/// All sections, in the order in which they are written.
pub(crate) const SECTIONS: [&str; 7] =
    ["topology", "latency", "coherence", "caches", "memory", "os", "power"];

/// All fields, in the order in which they are written.
pub(crate) const FIELDS: &[Field] = &[
    count("schema", SCHEMA, SCHEMA, "version of this format"),
    text("name", "the name on the command line: lower-case letters, digits and hyphens"),
    text("title", "what it is, in a line"),
    figure("clock_ghz", 0.1, 10.0, "clock under load on all cores, in GHz"),
    figure(
        "smt_throughput",
        1.0,
        16.0,
        "throughput of a core with all its threads busy, as a multiple of that with one",
    ),
    count("topology.sockets", 1, 64, "processor packages"),
    count("topology.nodes_per_socket", 1, 64, "NUMA nodes in a socket"),
    count(
        "topology.groups_per_node",
        1,
        1024,
        "groups of cores in a node that share a nearer cache",
    ),
    count("topology.cores_per_group", 1, 1024, "cores in a group"),
    count("topology.threads_per_core", 1, 16, "hardware threads in a core"),
    Field {
        path: "topology.hops",
        kind: Kind::Hops,
        meaning: "links between nodes; without it, one between any two",
    },
    text("topology.source", "where these counts come from"),
    figure("latency.same_core_ns", 0.1, 1e4, "a line just written by a sibling thread, in ns"),
    figure("latency.same_group_ns", 0.1, 1e4, "by a core of the group"),
    figure("latency.same_node_ns", 0.1, 1e4, "by a core of another group of the node"),
    figure("latency.same_socket_ns", 0.1, 1e4, "by a core of another node of the socket"),
    figure("latency.other_socket_ns", 0.1, 1e4, "by a core of another socket, one hop away"),
    figure("latency.per_hop_ns", 0.0, 1e4, "for each hop beyond the first"),
    figure("coherence.line_service_ns", 0.0, 1e4, "how long a read keeps a line busy, in ns"),
    optional(
        "coherence.write_hold_ns",
        0.0,
        1e4,
        "how long a core keeps a line that it has got to write, though others ask for it, in ns",
    ),
    optional(
        "coherence.migratory_sharing",
        0.0,
        1.0,
        "1 if a read takes a line over that another core has written, 0 if both have a copy then",
    ),
    figure(
        "coherence.invalidate_per_sharer_ns",
        0.0,
        1e3,
        "what each sharer adds to a write, in ns",
    ),
    figure(
        "coherence.home_service_ns",
        0.0,
        1e3,
        "how long a request keeps a node's directory busy, in ns",
    ),
    figure("coherence.rmw_cycles", 0.0, 1e3, "what an atomic read-modify-write adds, in cycles"),
    figure("coherence.pause_cycles", 0.0, 1e3, "a spin-loop hint (x86: PAUSE), in cycles"),
    count("caches.line_bytes", 16, 1024, "size of a cache line in bytes, a power of two"),
    figure("caches.hit_cycles", 1.0, 100.0, "a hit in the nearest cache, in cycles"),
    figure("caches.private_kib", 1.0, 1e6, "a core's own caches, in KiB"),
    figure("caches.shared_kib", 0.0, 1e8, "a last-level cache, in KiB; 0 for none"),
    count("caches.shared_per_node", 1, 1024, "last-level caches in a node: 1, or one a group"),
    figure("caches.shared_hit_ns", 0.0, 1e3, "a hit in the last-level cache, in ns"),
    figure(
        "caches.shared_finds_copies",
        0.0,
        1.0,
        "1 if a last-level cache serves all that its cores hold copies of, 0 if the home does",
    ),
    optional(
        "caches.shared_holds_private",
        0.0,
        1.0,
        "1 if a last-level cache holds all that its cores hold, 0 if it takes what leaves them",
    ),
    optional(
        "caches.own_line_cycles",
        0.1,
        100.0,
        "writing a line of a block that is in the core's own caches, in cycles",
    ),
    optional(
        "caches.lines_under_way",
        1.0,
        1024.0,
        "lines of a block that are on their way to a core at a time",
    ),
    figure("memory.local_ns", 5.0, 1e4, "latency of the node's own memory, in ns"),
    figure("memory.remote_ns", 5.0, 1e4, "latency of another node's memory, one hop away, in ns"),
    figure("memory.bandwidth_gb_per_s", 0.1, 1e5, "bandwidth of a node, in GB/s"),
    optional(
        "memory.shared_controller_gb_per_s",
        0.1,
        1e5,
        "bandwidth of all nodes together, where these are buses to one memory, in GB/s",
    ),
    figure("os.context_switch_ns", 10.0, 1e6, "switching between two threads, in ns"),
    figure("os.futex_call_ns", 5.0, 1e6, "a futex call that neither waits nor wakes, in ns"),
    figure(
        "os.queued_kernel_locks",
        0.0,
        1.0,
        "1 if the kernel's spin locks queue their waiters, 0 if these share a line",
    ),
    optional(
        "os.mapping_locks",
        0.0,
        1.0,
        "1 if a page fault shares a lock of its mapping only, 0 if that of the address space",
    ),
    optional(
        "os.requeued_broadcasts",
        0.0,
        1.0,
        "1 if a broadcast wakes one waiter and has the others wait for the mutex, 0 if it wakes all",
    ),
    optional("os.page_fault_ns", 1.0, 1e6, "the first touch of a page, besides zeroing it, in ns"),
    optional("os.file_page_ns", 1.0, 1e6, "mapping one more page of a file at a fault, in ns"),
    optional("os.unmap_page_ns", 1.0, 1e6, "giving a page back, in ns"),
    optional("os.interrupt_every_us", 1.0, 1e6, "from one interrupt of a core to the next, in µs"),
    optional(
        "os.interrupt_ns",
        0.0,
        1e6,
        "how long an interrupt takes, in ns; 0 if there are none",
    ),
    figure("os.wake_ns", 10.0, 1e7, "what waking a thread costs the waker, in ns"),
    figure("os.wake_latency_ns", 1.0, 1e8, "from the wake until the woken thread runs, in ns"),
    optional(
        "os.idle_entry_ns",
        0.0,
        1e7,
        "from when the last thread of a core falls asleep until the core is idle, in ns",
    ),
    optional(
        "os.idle_return_ns",
        0.0,
        1e7,
        "from there until a thread runs that was woken meanwhile, in ns",
    ),
    figure(
        "os.deep_idle_after_us",
        0.0,
        1e7,
        "how long a core is idle before it goes to a deeper state, in µs; 0 for never",
    ),
    figure("os.deep_idle_exit_ns", 0.0, 1e8, "how much longer the wake takes from there, in ns"),
    figure(
        "os.time_slice_us",
        1.0,
        1e7,
        "how long a thread runs before another gets the core, in µs",
    ),
    figure("os.low_power_exit_ns", 0.0, 1e7, "leaving a low-power wait, in ns"),
    figure("power.active_w", 0.001, 1e3, "a core that computes, in W"),
    figure("power.spin_w", 0.001, 1e3, "a core that spins on a line in its cache, in W"),
    figure("power.low_power_w", 0.0, 1e3, "a core in a low-power wait, in W"),
    figure("power.idle_w", 0.0, 1e3, "a core idle in the operating system, in W"),
    figure("power.socket_w", 0.0, 1e4, "everything of a socket but its cores, in W"),
];

/// Lists of fields whose values must not fall from one field to the next, each list with the
/// reason.
pub(crate) const RISING: &[(&[&str], &str)] = &[
    (
        &[
            "latency.same_core_ns",
            "latency.same_group_ns",
            "latency.same_node_ns",
            "latency.same_socket_ns",
            "latency.other_socket_ns",
        ],
        "what is farther takes no less time; give levels that the machine lacks the value of the next nearer one",
    ),
    (&["memory.local_ns", "memory.remote_ns"], "another node's memory is no nearer than the own"),
    (
        &["power.low_power_w", "power.spin_w", "power.active_w"],
        "a core that does more takes no less power",
    ),
    (&["power.idle_w", "power.active_w"], "an idle core takes no more power than a busy one"),
];
