//! The path of a reference: from a processor to the memory that serves it.
//!
//! A burst of references to one page is served at once, in steps: as many as the counter of the page
//! has left, then what the policy decides, then the rest. So a burst costs what its references would
//! cost one by one, if no other processor's came between them.

use kilocore_platform::Cycles;

use crate::account::Account;
use crate::machine::{Machine, Whereabouts};
use crate::optimum::Optimum;
use crate::options::{Options, OptionsError};
use crate::policy::{At, Burst, Decision, Fate, Policy};
use crate::units::{NEVER, Node, Page, Processor};

/// A machine's memory under a policy.
///
/// ```
/// use kilocore_platform::Cycles;
/// use kilocore_placement::{Burst, FixedDelay, Memory, Options, Page, Processor};
///
/// let options = Options::lee_and_cho(2);
/// let mut memory = Memory::new(options, Box::new(FixedDelay { delay: 2 }))?;
/// let mut refer = |processor| memory.refer(Cycles(0), Processor(processor), Page(0), Burst::READ);
/// assert_eq!(refer(0), Cycles(5)); // the page is at home where it is first touched
/// assert_eq!(refer(1), Cycles(100));
/// assert_eq!(refer(1), Cycles(100 + 500 + 4096)); // the second remote one brings a copy
/// assert_eq!(refer(1), Cycles(5));
/// assert_eq!(memory.account().namc(Cycles(5)), Some((5 + 100 + 4696 + 5) as f64 / 20.0));
/// # Ok::<(), kilocore_placement::OptionsError>(())
/// ```
#[derive(Debug)]
pub struct Memory {
    machine: Machine,
    policy: Box<dyn Policy>,
    /// When the daemon of each node runs next.
    due: Vec<Cycles>,
    period: Cycles,
    /// How many references each processor has to its next sample.
    until_sample: Vec<u32>,
    sample_every: u32,
    watches: bool,
    optimum: Option<Optimum>,
    /// Whether a reference to a page at home costs no more than that.
    plain: bool,
    /// What such references have cost.
    plain_cycles: Cycles,
    exhausted: Vec<Node>,
}

const NO_SAMPLES: u32 = 0;

impl Memory {
    /// A memory without pages.
    ///
    /// # Errors
    /// [`OptionsError`] if there can be no such machine.
    pub fn new(options: Options, policy: Box<dyn Policy>) -> Result<Self, OptionsError> {
        options.check()?;
        let period = policy.period().unwrap_or(Cycles(u64::MAX));
        let sample_every = policy.sample_every().map_or(NO_SAMPLES, |every| every.get());
        let plain = options.tlb.is_none()
            && options.costs.service == Cycles(0)
            && sample_every == NO_SAMPLES;
        Ok(Self {
            due: vec![period; options.nodes as usize],
            period,
            until_sample: vec![sample_every; options.processors() as usize],
            sample_every,
            watches: policy.watches(),
            optimum: None,
            plain_cycles: Cycles(0),
            plain,
            exhausted: Vec::new(),
            machine: Machine::new(options),
            policy,
        })
    }

    /// Also finds out what the least would have been that this string of references could cost. It
    /// has to be asked for before the first reference.
    #[must_use]
    pub fn with_optimum(mut self) -> Self {
        self.optimum = Some(Optimum::new(self.machine.options()));
        self
    }

    /// Says that the program keeps a page for one processor: its references are counted apart, and it
    /// lies with that processor at first in any case.
    pub fn set_private(&mut self, page: Page) {
        self.machine.set_private(page);
    }

    /// Lets a page be as if nobody had referred to it: its number may stand for another one from now
    /// on. Its copies go without a cost.
    pub fn forget(&mut self, page: Page) {
        if page.0 < self.machine.pages() {
            self.machine.forget(page);
            self.policy.forget(&self.machine, page);
            if let Some(optimum) = &mut self.optimum {
                optimum.forget(page);
            }
        }
    }

    /// The machine as it stands.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// What has happened so far.
    #[must_use]
    pub fn account(&self) -> &Account {
        self.machine.account()
    }

    /// The least that the references so far could have cost with the pages at home where they were
    /// first, in cycles; if it was [asked for](Self::with_optimum).
    #[must_use]
    pub fn optimum(&self) -> Option<Cycles> {
        self.optimum.as_ref().map(|optimum| optimum.cycles() + self.plain_cycles)
    }

    /// Serves references of a processor to a page. `now` is the time on its clock. Returns how long
    /// they take, with all that is done for them.
    ///
    /// # Panics
    /// If the machine has no such processor.
    #[inline]
    pub fn refer(&mut self, now: Cycles, processor: Processor, page: Page, burst: Burst) -> Cycles {
        let node = self.machine.options().node_of(processor);
        if page.0 >= self.machine.pages() {
            self.machine.make_room(page);
        }
        let Whereabouts { home, placed, private, trapped, copies } = self.machine.whereabouts(page);
        let account = &mut self.machine.account;
        let (reads, writes) = (u64::from(burst.reads), u64::from(burst.writes));
        if private {
            account.private_reads += reads;
            account.private_writes += writes;
        } else {
            account.shared_reads += reads;
            account.shared_writes += writes;
        }
        let at_home = placed && home == node && copies.is_empty() && !trapped;
        let daemon = now >= self.due[node.index()];
        let spent = if self.plain && at_home && !daemon && (private || !self.is_watched()) {
            let spent = Cycles(self.machine.options().costs.local.0 * (reads + writes));
            self.plain_cycles += spent;
            spent
        } else {
            self.refer_fully(now, At { processor, node, page }, burst)
        };
        self.machine.account.cycles += spent.0;
        spent
    }

    fn is_watched(&self) -> bool {
        self.watches || self.optimum.is_some()
    }

    fn refer_fully(&mut self, now: Cycles, at: At, burst: Burst) -> Cycles {
        if burst.references() == 0 {
            return Cycles(0);
        }
        self.machine.now = now;
        self.machine.spent = Cycles(0);
        if now >= self.due[at.node.index()] {
            self.run_daemon(at);
        }
        if !self.machine.whereabouts(at.page).placed {
            self.machine.place(at.page, at.node);
        }
        if self.machine.options().tlb.is_some() {
            self.machine.translate(at.page, at.processor);
        }
        if let Some(optimum) = &mut self.optimum {
            optimum.record(at, burst, self.machine.whereabouts(at.page).home);
        }
        self.trap(at);
        self.sample(at, burst);
        self.read(at, burst.reads);
        self.write(at, burst.writes);
        if self.watches && !self.machine.whereabouts(at.page).private {
            match self.policy.watched(&mut self.machine, at, burst) {
                Decision::Stay(_) => {}
                decision => self.interrupt(at, decision),
            }
        }
        self.machine.spent
    }

    fn run_daemon(&mut self, at: At) {
        let before = self.machine.spent;
        self.policy.daemon(&mut self.machine, at.node, at.processor);
        let done = self.machine.now + self.machine.spent.since(before);
        // What became due meanwhile is left out. A daemon that takes longer than its period would
        // do nothing else.
        let due = &mut self.due[at.node.index()];
        let late = done.since(*due).0 / self.period.0;
        *due += Cycles(self.period.0 * (late + 1));
    }

    fn trap(&mut self, at: At) {
        if self.machine.whereabouts(at.page).trapped {
            self.machine.clear_trap(at.page);
            let decision = self.policy.trapped(&mut self.machine, at);
            self.interrupt(at, decision);
        }
    }

    /// Takes the samples that fall into a burst. The reads come first.
    fn sample(&mut self, at: At, burst: Burst) {
        if self.sample_every == NO_SAMPLES {
            return;
        }
        let mut passed = u64::from(self.until_sample[at.processor.index()]);
        while passed <= burst.references() {
            let write = passed > u64::from(burst.reads);
            self.policy.sampled(&mut self.machine, at, write);
            passed += u64::from(self.sample_every);
        }
        self.until_sample[at.processor.index()] = (passed - burst.references()) as u32;
    }

    fn read(&mut self, at: At, mut reads: u32) {
        while reads > 0 {
            let Whereabouts { home, copies, .. } = self.machine.whereabouts(at.page);
            if home == at.node || copies.contains(at.node) {
                self.serve_locally(at, u64::from(reads));
                return;
            }
            let served = self.before_exhaustion(at, reads);
            reads -= served;
            let options = self.machine.options();
            let each = options.costs.read(options.nodes, at.node, home);
            self.machine.queue(home, u64::from(served));
            self.machine.charge(Cycles(each.0 * u64::from(served)));
            self.machine.account.remote_reads += u64::from(served);
            self.count_remote(at, served);
        }
    }

    fn write(&mut self, at: At, mut writes: u32) {
        if writes > 0 && self.machine.invalidates() {
            let gone = self.machine.invalidate_copies(at.page, at.node);
            self.machine.account.invalidations += gone;
            self.machine.charge(Cycles(self.machine.options().costs.update.0 * gone));
        }
        while writes > 0 {
            let Whereabouts { home, copies, .. } = self.machine.whereabouts(at.page);
            let tell = writes.min(self.machine.least_budget(at.page, at.node));
            if home == at.node || copies.contains(at.node) {
                writes -= tell;
                self.serve_locally(at, u64::from(tell));
                self.update(at, tell);
                continue;
            }
            let served = self.before_exhaustion(at, tell);
            writes -= served;
            let each = self.machine.options().costs.remote_write;
            self.machine.queue(home, u64::from(served));
            self.machine.charge(Cycles(each.0 * u64::from(served)));
            self.machine.account.remote_writes += u64::from(served);
            self.update(at, served);
            self.count_remote(at, served);
        }
    }

    fn serve_locally(&mut self, at: At, references: u64) {
        let local = self.machine.options().costs.local;
        self.machine.queue(at.node, references);
        self.machine.charge(Cycles(local.0 * references));
        if self.machine.copies(at.page).contains(at.node) {
            self.machine.count_up(at.page, at.processor, references);
        }
    }

    /// How many of some remote references come before the policy is asked. It is asked at once if
    /// the delay is none, and then there may be none.
    fn before_exhaustion(&mut self, at: At, references: u32) -> u32 {
        if !self.machine.refers_remotely(at.page, at.processor) {
            let delay = self.policy.first_remote(&mut self.machine, at);
            self.machine.begin_delay(at.page, at.processor, delay);
            if delay == 0 {
                self.ask(at);
                return 0;
            }
        }
        references.min(self.machine.counter(at.page, at.processor).max(1))
    }

    fn count_remote(&mut self, at: At, served: u32) {
        if self.machine.count_down(at.page, at.processor, served) {
            self.ask(at);
        }
    }

    fn ask(&mut self, at: At) {
        let decision = self.policy.exhausted(&mut self.machine, at);
        self.interrupt(at, decision);
    }

    /// Carries out what the policy has decided in an interrupt or a fault.
    fn interrupt(&mut self, at: At, decision: Decision) {
        self.machine.charge(self.machine.options().costs.fault);
        self.act(at, decision);
        if let Decision::Stay(_) = decision {
            self.machine.account.idle_faults += 1;
        }
    }

    fn act(&mut self, at: At, decision: Decision) {
        match decision {
            Decision::Stay(delay) => self.stay(at, delay),
            Decision::Migrate => self.machine.migrate(at.page, at.node),
            Decision::Replicate => {
                let budget = self.policy.update_budget();
                let local = self.machine.is_local(at.page, at.node);
                if !local && !self.machine.replicate(at.page, at.node, budget) {
                    // There are as many copies as there may be.
                    match self.policy.first_remote(&mut self.machine, at) {
                        0 => self.stay(at, NEVER),
                        delay => self.stay(at, delay),
                    }
                }
            }
        }
    }

    fn stay(&mut self, at: At, delay: u32) {
        if !self.machine.is_local(at.page, at.node) {
            self.machine.begin_delay(at.page, at.processor, delay.max(1));
        }
    }

    /// Tells the copies of writes.
    fn update(&mut self, at: At, writes: u32) {
        let mut exhausted = std::mem::take(&mut self.exhausted);
        let told = self.machine.update_copies(at.page, at.node, writes, &mut exhausted);
        let updates = told * u64::from(writes);
        self.machine.account.updates += updates;
        self.machine.charge(Cycles(self.machine.options().costs.update.0 * updates));
        for node in exhausted.drain(..) {
            self.machine.charge(self.machine.options().costs.fault);
            match self.policy.updates_exhausted(&mut self.machine, at.page, node) {
                Fate::Drop => self.machine.drop_copy(at.page, node),
                Fate::Keep => {
                    let budget = self.policy.update_budget();
                    self.machine.begin_counts(at.page, node, budget);
                }
            }
        }
        self.exhausted = exhausted;
    }
}
