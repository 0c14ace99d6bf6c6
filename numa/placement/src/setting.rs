//! The machine, and everything else that does not depend on the policy.

use kilocore_machine::Description;
use kilocore_platform::Cycles;
use kilocore_show::Parameter;

use crate::{
    Coherence, Costs, Memory, Options, OptionsError, PageSize, PolicyParameters, Rule, Start,
};

/// The most processors that can be simulated: each may be a node, and a page's copies are in a word.
pub const MOST_PROCESSORS: u32 = 64;

/// The machine, and everything else that does not depend on the policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// The machine: its nodes, its processors and its costs.
    pub options: Options,
    /// How large pages are.
    pub page: PageSize,
    /// The parameters of policies; of the delays, each job has its own.
    pub policies: PolicyParameters,
    /// Where the costs come from.
    costs_from: &'static str,
}

/// A minor page fault of Linux without the time to zero the page (Valat and others, 2013).
const PUBLISHED_FAULT: Cycles = Cycles(2000);

impl Setting {
    /// The paper's machine, each of whose processors is a node. Larger pages take longer in proportion.
    #[must_use]
    pub fn published(processors: u32, page: PageSize) -> Self {
        let mut options = Options::lee_and_cho(processors);
        options.costs.page_copy = Cycles(page.bytes());
        Self {
            options,
            page,
            policies: PolicyParameters::default(),
            costs_from: "published: table 1; a message is taken for one way round the network",
        }
    }

    /// A machine of today, whose first `processors` cores are used, dealt to `nodes` nodes. If that is
    /// `None`, to as many as they lie on.
    ///
    /// There are no caches here, either: references stand for those that miss them.
    #[must_use]
    pub fn of(machine: &Description, processors: u32, nodes: Option<u32>, page: PageSize) -> Self {
        let topology = &machine.topology;
        let per_node = topology.cores_per_node() * topology.threads_per_core;
        let on_nodes = processors.div_ceil(per_node.max(1)).clamp(1, topology.nodes());
        let nodes = nodes.unwrap_or(on_nodes).max(1);
        let costs = costs(machine, nodes, page);
        let options = Options {
            nodes,
            processors_per_node: processors.div_ceil(nodes),
            costs,
            ..Options::lee_and_cho(1)
        };
        Self {
            options,
            page,
            policies: PolicyParameters::default(),
            costs_from: "the machine file; see docs/evidence/numa.md",
        }
    }

    /// The memory under a policy that has this initial delay, if it has one.
    ///
    /// # Errors
    /// [`OptionsError`] if there is no such machine.
    pub fn memory(&self, rule: Rule, delay: u32) -> Result<Memory, OptionsError> {
        let memory = Memory::new(
            self.options.clone(),
            rule.make(&PolicyParameters { delay, ..self.policies }),
        )?;
        Ok(if rule == Rule::Optimum { memory.with_optimum() } else { memory })
    }

    /// The parameters with their sources.
    /// Returns how many processors and memory nodes there are, in words.
    #[must_use]
    pub fn processors_on_nodes(&self) -> String {
        let (processors, nodes) = (self.options.processors(), self.options.nodes);
        format!("{processors} processors on {nodes} memory nodes")
    }

    #[must_use]
    pub fn parameters(&self) -> Vec<Parameter> {
        let Options { costs, nodes, .. } = &self.options;
        let from = self.costs_from;
        let cycles = |cycles: Cycles| format!("{} cycles", cycles.0);
        let parameter = |name, value, source| Parameter::new(name, value, source);
        let coherence = match self.options.coherence {
            Coherence::WriteUpdate => "a write is sent to all copies",
            Coherence::WriteInvalidate => "a write takes other copies away",
        };
        let start = match self.options.start {
            Start::FirstTouch => "with the processor that refers to it first",
            Start::RoundRobin => "with each node in turn, private ones with their processor",
        };
        let remote = format!("{:.0} cycles on average", costs.mean_remote_read(*nodes));
        let mut parameters = vec![
            parameter("a local reference", cycles(costs.local), from),
            parameter("a remote read", remote, from),
            parameter("a remote write", cycles(costs.remote_write), from),
            parameter("telling a copy of a write", cycles(costs.update), from),
            parameter("carrying a page", cycles(costs.page_copy), from),
            parameter("a fault or an interrupt", cycles(costs.fault), from),
            parameter("a message between processors", cycles(costs.message), from),
            parameter(
                "a memory's time for a reference, in which it serves no other",
                cycles(costs.service),
                "table 1 has none; for machine files, a line at the memory's bandwidth",
            ),
            parameter("pages", format!("{} bytes", self.page.bytes()), "published: 4 KiB"),
            parameter("where a page lies at first", start.to_owned(), "the paper says nothing"),
            parameter("copies", coherence.to_owned(), "published: write-update"),
            parameter(
                "nodes that may have a page",
                self.options.most_copies.min(*nodes).to_string(),
                "the paper has no limit",
            ),
            parameter(
                "how often daemons run",
                cycles(self.policies.period),
                "published: 3 s of an unknown clock; see docs/evidence/numa.md",
            ),
        ];
        parameters.extend(self.options.tlb.map(|tlb| {
            let kept = if tlb.writes_back { "kept" } else { "lost" };
            parameter(
                "translation buffers",
                format!("{} pages, counters of {} bits, {kept}", tlb.entries, tlb.counter_bits),
                "published: 13 bits, kept; 48 entries of two pages on the R4000",
            )
        }));
        parameters
    }
}

/// What a machine file says, in cycles.
fn costs(machine: &Description, nodes: u32, page: PageSize) -> Costs {
    let cycles = |ns: f64| Cycles((ns * machine.clock_ghz.value).round().max(1.0) as u64);
    let pairs = (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to)));
    // Nodes beyond those of the machine are as far as its farthest.
    let on = machine.topology.nodes();
    let farthest = (0..on).map(|to| machine.memory_latency_ns(0, to)).fold(0.0, f64::max);
    let latency = |(from, to): (u32, u32)| {
        let known = from < on && to < on || from == to;
        let ns = if known { machine.memory_latency_ns(from % on, to % on) } else { farthest };
        cycles(ns.max(machine.memory.local_ns.value))
    };
    let local = cycles(machine.memory.local_ns.value);
    let bandwidth = machine.memory.bandwidth_gb_per_s.value;
    let carrying = page.bytes() as f64 / bandwidth + machine.memory.remote_ns.value;
    // Table 1's ratio: nobody waits for a write.
    let write = Cycles(local.0 * 2);
    Costs {
        local,
        remote_read: pairs.map(latency).collect(),
        remote_write: write,
        update: write,
        page_copy: cycles(carrying),
        fault: PUBLISHED_FAULT,
        message: cycles(machine.os.wake_ns.value),
        tlb_miss: Cycles(0),
        service: cycles(f64::from(machine.caches.line_bytes) / bandwidth),
    }
}
