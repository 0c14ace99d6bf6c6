//! The steps that parents and children have in common: computing, working in the kernel, and walks.

use kilocore_ldu::Scheme;
use kilocore_locks::RawLock;
use kilocore_platform::{Cycles, Platform};
use kilocore_rivals::rmap::{Context, Page, Process};
use kilocore_sim::{Random, Sim};

use crate::ldu::progress::Spent;
use crate::ldu::world::World;

/// A simulated thread at work.
pub(crate) struct Steps<'a, F: Scheme<Sim>, A: Scheme<Sim>> {
    pub(crate) world: &'a World<F, A>,
    pub(crate) context: Context<Sim, F, A>,
    random: Random,
    /// Time in user mode so far.
    user: u64,
}

impl<'a, F: Scheme<Sim>, A: Scheme<Sim>> Steps<'a, F, A> {
    pub(crate) fn new(world: &'a World<F, A>, random: Random) -> Self {
        Self { world, context: world.memory.context(), random, user: 0 }
    }

    /// Where the thread's time on cores has gone so far.
    pub(crate) fn spent(&self) -> Spent {
        Spent { all: 0, busy: Sim::times().total().0, user: self.user }
    }

    /// Counts updates of the reverse mapping, and walks it as often as the setting requires for so
    /// many updates. The walks are for pages of `process`, picked like the links of its areas.
    pub(crate) fn walk_after(&mut self, process: &Process<Sim, F, A>, updates: usize) {
        self.count_updates(updates);
        for _ in 0..self.whole_number(updates as f64 * self.world.walks_per_update) {
            self.walk(process);
        }
    }

    fn walk(&mut self, process: &Process<Sim, F, A>) {
        let mut pick = self.below(links(process));
        let area = process.areas().iter().find(|area| {
            let links = area.anon_vmas().len() + usize::from(area.file().is_some());
            let found = pick < links;
            if !found {
                pick -= links;
            }
            found
        });
        let Some(area) = area else { return };
        let page = (self.random.uniform() * area.pages() as f64) as u64;
        let memory = &self.world.memory;
        let mut seen = 0_u64;
        let mut found = |_| seen += 1;
        match (area.anon_vmas().nth(pick), area.file()) {
            (Some((family, anon_vma)), _) => {
                let page = Page(area.start().0 + page);
                memory.walk_anonymous(family, anon_vma, page, &mut found, &mut self.context);
            }
            (None, Some((file, offset))) => {
                let page = offset.0 + page;
                memory.walk_file(file, page..=page, &mut found, &mut self.context);
            }
            (None, None) => {}
        }
        let walks = &self.world.progress.walks;
        walks.set(walks.get() + u64::from(self.counting()));
    }

    pub(crate) fn count_updates(&self, updates: usize) {
        let all = &self.world.progress.updates;
        all.set(all.get() + if self.counting() { updates as u64 } else { 0 });
    }

    fn counting(&self) -> bool {
        self.world.progress.counting(Sim::now())
    }

    /// Computes in user mode, for about `mean_us`.
    pub(crate) fn compute(&mut self, mean_us: f64) {
        let cycles = self.spread(mean_us);
        self.user += cycles.0;
        Sim::work(cycles);
    }

    /// Works in the kernel, for about `mean_us`.
    pub(crate) fn work(&mut self, mean_us: f64) {
        Sim::work(self.spread(mean_us));
    }

    /// Holds the lock of the process table for about as long as the setting says.
    pub(crate) fn change_process_table(&mut self) {
        let table = &self.world.process_table;
        table.acquire(&mut ());
        self.work(self.world.setting.table_us);
        // SAFETY: acquired above.
        unsafe { table.release(&mut ()) };
    }

    /// Returns a random duration between half of its mean and one and a half times its mean.
    fn spread(&mut self, mean_us: f64) -> Cycles {
        let us = mean_us * (0.5 + self.random.uniform());
        Cycles((us * self.world.cycles_per_us).round() as u64)
    }

    /// Returns a random whole number with this mean.
    pub(crate) fn whole_number(&mut self, mean: f64) -> u64 {
        (mean + self.random.uniform()) as u64
    }

    /// Returns a random whole number below `bound`, all equally likely.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.random.uniform() * bound as f64) as usize
    }

    /// Returns true with this probability.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.random.uniform() < probability
    }
}

/// The number of places in the reverse mapping at which a process is linked.
pub(crate) fn links<F: Scheme<Sim>, A: Scheme<Sim>>(process: &Process<Sim, F, A>) -> usize {
    let of = |area: &kilocore_rivals::rmap::Area<Sim, F, A>| {
        area.anon_vmas().len() + usize::from(area.file().is_some())
    };
    process.areas().iter().map(of).sum()
}
