//! The machine that pages lie on, and what can be chosen of it on the command line.

use clap::Args;
use kilocore_command_line::Failure;
use kilocore_placement::{Coherence, CopyCost, PageSize, Setting, Start, TlbOptions};
use kilocore_platform::Cycles;

#[derive(Debug, Clone, Args)]
pub(crate) struct Machine {
    /// Processors, each with one thread: 1 to 64
    #[arg(long, default_value_t = 32, value_name = "N")]
    cores: u32,
    /// Memory nodes, to which the processors are dealt evenly. Each processor is one if not given, or
    /// those of the machine with --machine
    #[arg(long, value_name = "N")]
    nodes: Option<u32>,
    /// Costs of a machine of today, by name or as a machine file; those of the paper's bus if not given
    #[arg(long, value_name = "MACHINE")]
    machine: Option<String>,
    #[command(flatten)]
    choices: Choices,
    /// Seed of all chance
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// What the paper leaves open, and what it draws as hardware.
#[derive(Debug, Clone, Args)]
struct Choices {
    /// Bytes of a page: a power of two from 64 to 1073741824
    #[arg(long, default_value = "4096", value_name = "BYTES", value_parser = page_size)]
    page: PageSize,
    /// Cycles between two runs of a daemon
    #[arg(long, default_value_t = 1_000_000, value_name = "CYCLES", value_parser = positive())]
    period: u64,
    /// Of how many writes a copy is told until the updates policy looks at it
    #[arg(long, default_value_t = 1000, value_name = "WRITES", value_parser = clap::value_parser!(u32).range(1..))]
    budget: u32,
    /// On how many nodes a page may be
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    most_copies: Option<u32>,
    /// A write takes other copies away, and does not update them
    #[arg(long)]
    invalidate: bool,
    /// Shared pages lie with each node in turn at first, and not with who touches them first
    #[arg(long)]
    round_robin: bool,
    /// The adjustable delay compares costs in cycles with numbers of references, as its formula is printed
    #[arg(long)]
    costs_in_cycles: bool,
    /// Counters are in translation buffers of so many entries
    #[arg(long, value_name = "ENTRIES", value_parser = clap::value_parser!(u32).range(1..=65_535))]
    tlb: Option<u32>,
    /// Bits of such a counter
    #[arg(long, default_value_t = 13, value_name = "BITS", requires = "tlb", value_parser = clap::value_parser!(u32).range(1..=32))]
    counter_bits: u32,
    /// Counters of entries that make room are lost
    #[arg(long, requires = "tlb")]
    lose_counts: bool,
}

fn positive() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..)
}

fn page_size(text: &str) -> Result<PageSize, String> {
    let size = text.parse().ok().and_then(PageSize::of);
    size.ok_or_else(|| "it must be a power of two from 64 to 1073741824".to_owned())
}

impl Choices {
    fn apply(&self, setting: &mut Setting) {
        let Setting { options, policies, .. } = setting;
        policies.period = Cycles(self.period);
        policies.budget = self.budget;
        if self.costs_in_cycles {
            policies.adjustable.unit = CopyCost::Cycles;
        }
        options.most_copies = self.most_copies.unwrap_or(options.most_copies);
        if self.invalidate {
            options.coherence = Coherence::WriteInvalidate;
        }
        if self.round_robin {
            options.start = Start::RoundRobin;
        }
        options.tlb = self.tlb.map(|entries| TlbOptions {
            entries,
            counter_bits: self.counter_bits,
            writes_back: !self.lose_counts,
        });
    }
}

impl Machine {
    /// The name of the machine file, if there is one.
    pub(crate) fn name(&self) -> Option<&str> {
        self.machine.as_deref()
    }

    /// The machine with all that was chosen.
    pub(crate) fn setting(&self) -> Result<Setting, Failure> {
        let &Self { cores, nodes, seed, .. } = self;
        if nodes.is_some_and(|nodes| nodes == 0 || !cores.is_multiple_of(nodes)) {
            let nodes = nodes.unwrap_or_default();
            return Err(Failure::new(format!(
                "{cores} processors cannot be dealt evenly to {nodes} nodes; choose a number of nodes that divides them"
            )));
        }
        let page = self.choices.page;
        let mut setting = match &self.machine {
            Some(name) => Setting::of(&kilocore_machine::find(name)?, cores, nodes, page),
            None => {
                let mut setting = Setting::published(cores, page);
                let nodes = nodes.unwrap_or(cores);
                setting.options.nodes = nodes;
                setting.options.processors_per_node = cores / nodes.max(1);
                setting
            }
        };
        setting.options.seed = seed;
        self.choices.apply(&mut setting);
        Ok(setting)
    }
}
