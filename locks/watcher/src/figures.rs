//! What the windows tell of a lock: how often it is taken, how long it is held, and how long
//! threads do other things in between.
//!
//! A hit costs a thread about as much time as many a critical section lasts. So every time is
//! taken less the hits in it, whose cost was measured just before each window. The rate of
//! acquisitions is corrected as a whole: a closed queue of the threads at the lock is solved with
//! the costs and without them, and the ratio of the two throughputs is the factor.

use std::collections::BTreeMap;

use kilocore_figures::Nanoseconds;

use crate::cost::{COST_DIFFERS, COST_MORE, HitCost, STACK_NS};
use crate::estimate::{Estimate, mean};
use crate::ids::Tid;
use crate::model::Model;
use crate::pairing::{
    Paired, Section, exclusive, shared, without_met_readers, without_writer, writers,
};
use crate::progress::{Computing, LEAST_CYCLE, LEAST_SHARE, WindowSet, by_processor_time};
use crate::queue::Queue;
use crate::span::Span;
use crate::watched::{Watch, Watched};

/// One side of a lock: its exclusive or its shared acquisitions. Times are nanoseconds.
#[derive(Debug, Clone, Default)]
pub(crate) struct ModeFigures {
    /// How often the lock is acquired in this mode, in acquisitions a second.
    pub(crate) rate: Estimate,
    /// The mean time in which a holder ran.
    pub(crate) hold: Option<Estimate>,
    /// The mean time in which a holder was off its core by its own will.
    pub(crate) hold_asleep: f64,
    /// Of single sections: how long holders ran; how long threads waited that had to; how long they
    /// ran between two sections.
    pub(crate) holds: Vec<f64>,
    pub(crate) waits: Vec<f64>,
    pub(crate) thinks: Vec<f64>,
    /// The mean time off the core by its own will between two sections.
    pub(crate) think_asleep: f64,
    /// Acquisitions in windows, and those of sections that a thread had tried for in vain.
    pub(crate) seen: u64,
    pub(crate) contended: u64,
    pub(crate) same_core: u64,
    pub(crate) other_core: u64,
    pub(crate) by_thread: BTreeMap<Tid, u64>,
}

/// What is known of a word.
#[derive(Debug, Clone)]
pub(crate) struct Figures {
    pub(crate) model: Model,
    /// Whether most of what the threads did was watched. If not, nothing of the rest is certain.
    pub(crate) is_covered: bool,
    pub(crate) exclusive: ModeFigures,
    pub(crate) shared: Option<ModeFigures>,
    /// How many windows watched it, how long they were in all, and how many writes they saw.
    pub(crate) windows: u64,
    pub(crate) window_time: Nanoseconds<f64>,
    pub(crate) writes: u64,
}

impl Figures {
    /// Whether it was seen how often the lock is taken. One that threads wait for is taken: windows in which nobody
    /// takes it have missed that.
    pub(crate) fn show_it_taken(&self) -> bool {
        let sides = [Some(&self.exclusive), self.shared.as_ref()];
        sides.into_iter().flatten().any(|side| side.rate.value > 0.0)
    }
}

/// What the windows of a word tell.
pub(crate) fn figures(watched: &Watched, computing: Option<Computing>) -> Figures {
    let model = watched.model();
    let (meaning, unit) = match model {
        Model::Exclusive(meaning) => (Some(meaning), None),
        Model::Shared(unit, meaning) => (meaning, Some(unit)),
        Model::NoLock | Model::Unknown => (None, None),
    };
    let timed = timed(&watched.windows);
    let side = |pair: &dyn Fn(&Watch) -> Paired| {
        let paired: Vec<Paired> = timed.iter().map(|watch| pair(watch)).collect();
        side(&timed, &paired, watched.writers.len(), computing)
    };
    Figures {
        model,
        is_covered: watched.is_covered(),
        exclusive: meaning.map_or_else(ModeFigures::default, |meaning| {
            side(&|watch| match unit {
                Some(unit) => {
                    let all = writers(&watch.history.operations, unit, meaning);
                    without_met_readers(all, unit, meaning)
                }
                None => exclusive(&watch.history.operations, meaning),
            })
        }),
        shared: unit.map(|unit| {
            let all = |watch: &Watch| shared(&watch.history.operations, unit);
            side(&|watch| without_writer(all(watch), meaning))
        }),
        windows: watched.windows.len() as u64,
        window_time: watched.windows.iter().map(Watch::length).sum(),
        writes: watched.writes as u64,
    }
}

/// The windows whose times count: those that only writes to the word disturbed, if there are any.
fn timed(windows: &[Watch]) -> Vec<&Watch> {
    let without: Vec<&Watch> = windows.iter().filter(|watch| watch.undisturbed).collect();
    if without.is_empty() { windows.iter().collect() } else { without }
}

fn side(
    watches: &[&Watch],
    paired: &[Paired],
    writers: usize,
    computing: Option<Computing>,
) -> ModeFigures {
    let mut side = ModeFigures::default();
    let mut passes = Passes::default();
    let mut windows = Vec::new();
    let (mut hold_asleep, mut think_asleep, mut costs) = (0.0, 0.0, Vec::new());
    let (mut hits_inside, mut hits_between) = (0.0, 0.0);
    let (mut elsewhere, mut copies) = (0.0, 0.0);
    for ((watch, paired), cost) in watches.iter().copied().zip(paired).zip(usual_costs(watches)) {
        passes.add(watch, cost, paired, writers);
        windows.push((watch, paired, cost));
        side.seen += paired.acquisitions;
        elsewhere += watch.elsewhere as f64;
        if watch.copied {
            copies += watch.history.operations.len() as f64;
        }
        costs.push(COST_MORE * cost.middle());
        let mut before: Option<&Section> = None;
        for section in &paired.sections {
            let inside = Span::of(section.acquired, section.released, section.tid, &watch.away);
            let hits = f64::from(1 + section.hits_inside);
            // The first of them follows whatever the thread did before.
            let before_it = section.requested.or(section.released_before);
            let first = before_it
                .map_or(cost.cold.0 as f64, |before_it| cost.at(section.acquired - before_it));
            side.holds.push(inside.less(COST_MORE * (first + (hits - 1.0) * cost.middle())));
            hold_asleep += inside.asleep;
            hits_inside += hits;
            if let Some(requested) = section.requested {
                side.contended += 1;
                let all = (section.acquired - requested).0 as f64;
                let hits = f64::from(section.hits_before);
                side.waits.push((all - COST_MORE * hits * cost.middle()).max(0.0));
                hits_between += hits;
            }
            if let Some(released) = section.released_before {
                let until = section.requested.unwrap_or(section.acquired);
                let between = Span::of(released, until, section.tid, &watch.away);
                let last = cost.at(section.released - section.acquired);
                side.thinks.push(between.less(COST_MORE * last));
                think_asleep += between.asleep;
            }
            hits_between += 1.0;
            if let Some(before) = before {
                let same = before.core == section.core;
                *if same { &mut side.same_core } else { &mut side.other_core } += 1;
            }
            before = Some(section);
            *side.by_thread.entry(section.tid).or_default() += 1;
        }
    }
    let sections = side.holds.len().max(1) as f64;
    side.hold_asleep = hold_asleep / sections;
    side.think_asleep = think_asleep / side.thinks.len().max(1) as f64;
    let cost = mean(&costs);
    let hits = hits_inside / sections;
    let uncertain =
        Estimate::of_mean(&costs, COST_DIFFERS * cost).map_or(0.0, |e| e.high - e.value);
    // Nobody knows which of the hits at other words, and of the copies, were inside of sections.
    let disturbed = (cost * elsewhere + STACK_NS * copies) / sections;
    // The least time is none, which must not push the mean of many short sections up.
    side.hold = Estimate::of_mean(&side.holds, hits * uncertain).map(|hold| Estimate {
        value: hold.value.max(0.0),
        low: (hold.low - disturbed).max(0.0),
        ..hold
    });
    let between = mean(&side.thinks) - cost * elsewhere / sections;
    let queue = Queue {
        think: between.max(0.0) + side.think_asleep,
        hold: side.hold.map_or(0.0, |hold| hold.value) + side.hold_asleep,
        cost_inside: cost * hits,
        cost_outside: cost * (hits_between + elsewhere) / sections,
        copies: STACK_NS * copies / sections,
        ..Queue::of_threads(watches)
    };
    side.holds.iter_mut().chain(&mut side.thinks).for_each(|time| *time = time.max(0.0));
    let held = queue.hold + queue.cost_inside;
    let share = if held > 0.0 { queue.cost_inside / held } else { 0.0 };
    let of_all = passes.of_all().map(|all| all.corrected(queue.factor(all.value)));
    let by_processor =
        |of| computing.and_then(|computing| by_processor_time(&windows, of, computing));
    // Threads of a lock that one takes again and again while others sleep differ so much that few
    // of them say little. Where threads hardly compute, hits are most of what they do. So the most
    // certain of these counts.
    let ways =
        [by_processor(WindowSet::All), by_processor(WindowSet::Few), of_all, passes.of_few(share)];
    let known = || ways.into_iter().flatten();
    side.rate = known().min_by(|a, b| a.margin().total_cmp(&b.margin())).unwrap_or_default();
    if queue.share_of_hits() > MOSTLY_HITS {
        // No way is trusted alone then: the truth may be wherever any of them says.
        side.rate.low = known().map(|way| way.low).fold(side.rate.low, f64::min);
        side.rate.high = known().map(|way| way.high).fold(side.rate.high, f64::max);
    }
    side
}

/// The cost of a hit in each window; the usual one instead of one that is far from it, because the
/// host was busy with something else when that was measured.
fn usual_costs(watches: &[&Watch]) -> Vec<HitCost> {
    let mut costs: Vec<_> = watches.iter().map(|watch| watch.cost).collect();
    costs.sort_by(|a, b| a.middle().total_cmp(&b.middle()));
    let Some(usual) = costs.get(costs.len() / 2).copied() else { return Vec::new() };
    let far = |cost: HitCost| {
        cost.middle() > 1.5 * usual.middle() || 1.5 * cost.middle() < usual.middle()
    };
    watches.iter().map(|watch| if far(watch.cost) { usual } else { watch.cost }).collect()
}

/// Acquisitions of the windows, and the time that they took.
#[derive(Debug, Default)]
struct Passes {
    /// Of windows that watched all threads: acquisitions of all, and seconds.
    all: Vec<(f64, f64)>,
    /// Of windows that watched few.
    few: Vec<Pass>,
    seen_by_few: u64,
    /// How long the few ran, and were ready and had no core, in nanoseconds.
    ran: f64,
    preempted: f64,
}

/// Hits are most of what threads do if they take this share of a cycle. They then make others sleep and
/// wake, which takes the kernel as long again, and which nobody can tell from the program's own waits.
const MOSTLY_HITS: f64 = 0.5;
/// Fewer acquisitions than this of few threads say less than those of all.
const ENOUGH_OF_FEW: u64 = 100;

impl Passes {
    fn add(&mut self, watch: &Watch, cost: HitCost, paired: &Paired, writers: usize) {
        let acquisitions = paired.acquisitions as f64;
        let watched = watch.threads.len().max(1) as f64;
        if !watch.few {
            let share = watch.covered.map_or(watch.of as f64 / watched, |covered| 1.0 / covered);
            let share = share.max(1.0);
            self.all.push((acquisitions * share, watch.length().seconds()));
            return;
        }
        self.seen_by_few += paired.acquisitions;
        let time = watch.length() * watched;
        let cost = COST_MORE * cost.middle();
        let count = paired.sections.len().max(1) as f64;
        let had_to_wait =
            paired.sections.iter().filter(|section| section.requested.is_some()).count() as f64;
        let inside: u32 = paired.sections.iter().map(|section| 1 + section.hits_inside).sum();
        let before: u32 = paired.sections.iter().map(|section| 1 + section.hits_before).sum();
        // A thread that comes later to a lock that is taken waits that much less. But it may have
        // to wait only because others were held up.
        let outside = cost * f64::from(before);
        let most = cost * f64::from(inside) + outside;
        let least = most - outside * had_to_wait / count;
        for tid in &watch.threads {
            let span = Span::of(watch.begin, watch.end, *tid, &watch.away);
            self.preempted += span.preempted;
            self.ran += span.less(0.0).max(0.0);
        }
        let waited = paired.sections.iter().filter_map(|section| {
            let asleep = Span::of(section.requested?, section.acquired, section.tid, &watch.away);
            Some(asleep.asleep)
        });
        self.few.push(Pass {
            acquisitions: acquisitions * writers as f64,
            seconds: time.seconds(),
            lost: (least / 1e9, most / 1e9),
            waited: waited.sum::<f64>() / 1e9,
        });
    }

    fn of_all(&self) -> Option<Estimate> {
        Estimate::of_ratio(&self.all)
    }

    /// Hits are such a share of the time for which the lock is held in these windows.
    fn of_few(&self, hits: f64) -> Option<Estimate> {
        let enough = self.seen_by_few >= ENOUGH_OF_FEW;
        if !enough {
            return None;
        }
        let costing = |lost: &dyn Fn(&Pass) -> f64, least: f64| {
            let left = |pass: &Pass| pass.seconds - lost(pass);
            let pairs: Vec<(f64, f64)> =
                self.few.iter().map(|pass| (pass.acquisitions, left(pass))).collect();
            Estimate::of_ratio_at_least(&pairs, least)
        };
        let sum = |of: fn(&Pass) -> f64| self.few.iter().map(of).sum::<f64>();
        let share = LEAST_SHARE * sum(|pass| pass.seconds);
        let cycles = LEAST_CYCLE * sum(|pass| pass.acquisitions);
        let stretch = self.stretch();
        let least = costing(&|pass| (1.0 - COST_DIFFERS) * stretch * pass.lost.0, share)?;
        // Where hits are most of a hold, the others queue up because of them.
        let most = costing(
            &|pass| (1.0 + COST_DIFFERS) * stretch * pass.lost.1 + hits * pass.waited,
            cycles,
        )?;
        let middle = costing(&|pass| stretch * f64::midpoint(pass.lost.0, pass.lost.1), share)?;
        Some(Estimate { low: least.low, high: most.high, ..middle })
    }

    /// How much longer computing takes the few because others have their cores. This is so of all
    /// windows together: a thread may have no core in all of one.
    fn stretch(&self) -> f64 {
        if self.ran > 0.0 { 1.0 + (self.preempted / self.ran).min(64.0) } else { 1.0 }
    }
}

/// What few threads did in a window.
#[derive(Debug, Clone, Copy)]
struct Pass {
    /// Acquisitions of as many threads as there are.
    acquisitions: f64,
    /// A thread's time, and the least and the most of it that hits took.
    seconds: f64,
    lost: (f64, f64),
    /// For how long they slept for the lock.
    waited: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_no_window_saw_taken_is_not_known_to_be_taken_never() {
        let taken = |times: f64| {
            let rate = Estimate { value: times, low: 0.0, high: 10.0 };
            ModeFigures { rate, ..ModeFigures::default() }
        };
        let figures = |exclusive, shared: Option<f64>| Figures {
            model: Model::Unknown,
            is_covered: true,
            exclusive: taken(exclusive),
            shared: shared.map(taken),
            windows: 1,
            window_time: Nanoseconds(1e6),
            writes: 0,
        };
        assert!(!figures(0.0, None).show_it_taken() && !figures(0.0, Some(0.0)).show_it_taken());
        assert!(figures(2.0, None).show_it_taken() && figures(0.0, Some(2.0)).show_it_taken());
    }
}
