//! The whole: a stream goes in, advice comes out.

use std::collections::HashMap;

use crate::{Memory, Options, OptionsError, PageSize, PolicyParameters, Rule, Start, Streamed};
use kilocore_platform::Cycles;
use kilocore_references::{Event, EventKind};

use crate::advice::kind::MemoryKind;
use crate::advice::ledger::Ledger;
use crate::advice::outcome::{Advice, MappingAdvice};
use crate::advice::rows::Row;
use crate::advice::sums::{Placement, PlacementCosts};
use crate::advice::verdict::{Thresholds, judge};

/// Looks on while a program's references go by, and says in the end what to do about its memory.
///
/// ```
/// use kilocore_placement::advice::{Adviser, Placement, Thresholds, Verdict};
/// use kilocore_placement::{Options, PolicyParameters};
/// use kilocore_references::{Burst, Event, EventKind, Instructions, PageNumber, ThreadId};
///
/// let mut adviser = Adviser::new(&Options::lee_and_cho(2), &PolicyParameters::default())?;
/// let burst = |thread, reads, writes| Event {
///     at: Instructions(0),
///     thread: ThreadId(thread),
///     kind: EventKind::Burst(Burst { page: PageNumber(7), reads, writes }),
/// };
/// adviser.take(&burst(0, 0, 10)); // the first thread fills a page
/// adviser.take(&burst(1, 50_000, 0)); // and another one, on the other node, reads it
/// let advice = adviser.advice(&Thresholds::default());
/// let mapping = &advice.mappings[0];
/// assert_eq!(mapping.verdict.word(), "move");
/// assert_eq!(mapping.costs.of(Placement::FirstTouch).0, 10 * 5 + 50_000 * 100);
/// # Ok::<(), kilocore_placement::OptionsError>(())
/// ```
#[derive(Debug)]
pub struct Adviser {
    streamed: Streamed<Ledger>,
    local: Cycles,
    forks: u64,
    replaced: bool,
}

impl Adviser {
    /// For a machine. Where pages lie at first is no choice here, and queues at memories are left out:
    /// threads of a stream have clocks of their own, so that they do not meet in a queue as they would
    /// have met.
    ///
    /// # Errors
    /// [`OptionsError`] if there can be no such machine.
    pub fn new(options: &Options, parameters: &PolicyParameters) -> Result<Self, OptionsError> {
        let mut options = Options { start: Start::FirstTouch, ..options.clone() };
        options.costs.service = Cycles(0);
        let in_turn = Options { start: Start::RoundRobin, ..options.clone() };
        let memory =
            |options: &Options, rule: Rule| Memory::new(options.clone(), rule.make(parameters));
        // In the order of `SIMULATED`.
        let memories = vec![
            memory(&options, Rule::Never)?.with_optimum(),
            memory(&in_turn, Rule::Never)?,
            memory(&options, Rule::Linux)?,
            memory(&options, Rule::Balanced)?,
        ];
        let ledger = Ledger::new(&options);
        Ok(Self {
            streamed: Streamed::observed(memories, PageSize::SMALL, ledger)
                .expect("a stream knows such pages"),
            local: options.costs.local,
            forks: 0,
            replaced: false,
        })
    }

    /// Takes the next event of the stream.
    pub fn take(&mut self, event: &Event) {
        self.streamed.take(event);
        match &event.kind {
            EventKind::Burst(_) | EventKind::Quantum { .. } => {}
            EventKind::Forked => self.forks += 1,
            EventKind::Replaced => self.replaced = true,
            kind => self.streamed.observer_mut().change(kind),
        }
    }

    /// Ends the stream, and gives advice on each mapping that was referred to: where its pages
    /// should lie, as the costs of the simulated placements and these thresholds have it.
    #[must_use]
    pub fn advice(self, thresholds: &Thresholds) -> Advice {
        let threads = self.streamed.threads();
        let ledger = self.streamed.into_observer();
        let has_blocks = ledger.has_blocks();
        let (rows, loads) = ledger.close_all();
        let mut costs = PlacementCosts::default();
        let mut used: Vec<Row> =
            rows.into_rows().into_iter().filter(|row| row.sums.references() > 0).collect();
        for row in &mut used {
            if has_blocks && row.kind == MemoryKind::Heap {
                row.kind = MemoryKind::RestOfHeap;
            }
            let moved = row.sums.costs.of(Placement::FirstTouch).since(Cycles(row.sums.move_gain));
            row.sums.costs.set(Placement::Moved, moved.0);
            costs.merge(&row.sums.costs);
        }
        tell_apart(&mut used);
        let total = costs.of(Placement::FirstTouch);
        let mut mappings: Vec<MappingAdvice> =
            used.into_iter().map(|row| mapping(row, total, thresholds)).collect();
        mappings.sort_by_key(|mapping| {
            let gain = mapping.verdict.gain().map_or(0, |gain| gain.cycles.0);
            std::cmp::Reverse((gain, mapping.costs.of(Placement::FirstTouch)))
        });
        let Self { local, forks, replaced, .. } = self;
        Advice { threads, forks, replaced, local, costs, loads, mappings }
    }
}

/// Sites whose names are the same get longer ones, as far as there is something to tell them apart.
fn tell_apart(rows: &mut [Row]) {
    loop {
        let mut count: HashMap<String, u32> = HashMap::new();
        for row in rows.iter() {
            *count.entry(row.kind.to_string()).or_default() += 1;
        }
        let mut grown = false;
        for row in rows.iter_mut().filter(|row| count[&row.kind.to_string()] > 1) {
            if let MemoryKind::Allocated(site) | MemoryKind::ThreadStack(site) = &mut row.kind {
                grown |= site.show_more();
            }
        }
        if !grown {
            return;
        }
    }
}

fn mapping(row: Row, total: Cycles, thresholds: &Thresholds) -> MappingAdvice {
    let verdict = judge(&row.sums, total, thresholds);
    let Row { kind, mappings, sizes, mapped_pages, sums, .. } = row;
    MappingAdvice {
        kind,
        mappings,
        smallest: sizes.smallest.min(sizes.largest),
        largest: sizes.largest,
        mapped: mapped_pages > 0,
        touched_bytes: sums.bytes(),
        reads: sums.reads,
        writes: sums.writes,
        nodes: sums.nodes.len(),
        threads: sums.threads.len(),
        remote: sums.remote,
        shared_reads: sums.shared_reads,
        shared_writes: sums.shared_writes,
        costs: sums.costs,
        verdict,
    }
}
