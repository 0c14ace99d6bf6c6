//! A core at work.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use kilocore_kernel_path::{LineId, LockId, Mode, Touch};
use kilocore_ldu::raw::Inserted;
use kilocore_locks::RawRwLock;
use kilocore_platform::{Atomic, AtomicInt, Cycles, Ordering, Platform};
use kilocore_sim::{Random, Sim};

use crate::kernel::program::{LockIndex, Op, Program, Section, TreeIndex};
use crate::kernel::schemes::TreeScheme;
use crate::kernel::tally::{Tally, TreeUse};
use crate::kernel::world::{Mapping, Tree, World, free, give_up};

/// A core that replays its program.
pub(crate) struct Replay {
    pub(crate) world: Rc<World>,
    pub(crate) tally: Rc<RefCell<Tally>>,
    pub(crate) program: Rc<Program>,
    pub(crate) scheme: TreeScheme,
    pub(crate) cycles_per_instruction: f64,
    pub(crate) between: Cycles,
    /// At which length what was cancelled leaves a log.
    pub(crate) limit: u32,
    pub(crate) random: Random,
    /// Operations before this time are not counted, and none begins after the other.
    pub(crate) warm: Cycles,
    pub(crate) end: Cycles,
    pub(crate) held: HashMap<usize, Mode>,
    pub(crate) mappings: HashMap<TreeIndex, Vec<Mapping>>,
    /// How much longer than recorded all computing of the operation takes.
    pub(crate) stretch: f64,
    /// Parts of a cycle that are still to be computed.
    pub(crate) owed: f64,
}

impl Replay {
    /// Does operations until the end.
    pub(crate) fn run(mut self) {
        // Not all cores begin at once.
        let first = Cycles((self.random.uniform() * (self.warm.0 / 4) as f64) as u64);
        Sim::work(first);
        let mut before = None;
        while Sim::now() < self.end {
            if before.is_none() && Sim::now() >= self.warm {
                before = Some((Sim::now(), Sim::times()));
            }
            // Else cores that do the same would keep the distance that they have by chance.
            self.stretch = 0.8 + 0.4 * self.random.uniform();
            Sim::work(Cycles((self.between.0 as f64 * self.stretch) as u64));
            let program = Rc::clone(&self.program);
            self.all(&program, &program.ops);
            if self.is_counting() {
                self.tally.borrow_mut().operations += 1;
            }
        }
        if let Some((since, times)) = before {
            let mut tally = self.tally.borrow_mut();
            tally.elapsed += Sim::now().since(since).0;
            tally.busy += Sim::times().since(&times).total().0;
        }
    }

    fn is_counting(&self) -> bool {
        (self.warm..self.end).contains(&Sim::now())
    }

    fn all(&mut self, program: &Program, ops: &[Op]) {
        for op in ops {
            match op {
                Op::Tree(section) => self.section(program, section),
                Op::Acquire(lock, index, mode) => self.acquire(*lock, *index, *mode),
                Op::Release(index) => self.release(*index),
                _ => self.step(op),
            }
        }
    }

    /// Computes, or touches a line.
    fn step(&mut self, op: &Op) {
        match *op {
            Op::Compute(count) => {
                self.owed += f64::from(count.0) * self.cycles_per_instruction * self.stretch;
                let cycles = self.owed as u64;
                self.owed -= cycles as f64;
                Sim::work(Cycles(cycles));
            }
            Op::Touch(line, index, touch) => {
                let began = Sim::now();
                let word = &self.world.lines[index.0];
                match touch {
                    Touch::Load => {
                        word.load(Ordering::Relaxed);
                    }
                    Touch::Store => word.store(1, Ordering::Relaxed),
                    Touch::Update => {
                        word.fetch_add(1, Ordering::Relaxed);
                    }
                }
                self.waited_for_line(line, began);
            }
            Op::Acquire(..) | Op::Release(_) | Op::Tree(_) => {}
        }
    }

    fn waited_for_line(&self, line: LineId, began: Cycles) {
        if self.is_counting() {
            self.tally.borrow_mut().lines[line.0 as usize] += Sim::now().since(began).0;
        }
    }

    fn waited_for_lock(&self, lock: LockId, began: Cycles) {
        if self.is_counting() {
            self.tally.borrow_mut().locks[lock.0 as usize] += Sim::now().since(began).0;
        }
    }

    fn acquire(&mut self, lock: LockId, index: LockIndex, mode: Mode) {
        let began = Sim::now();
        self.world.locks[index.0].acquire(mode);
        self.held.insert(index.0, mode);
        self.waited_for_lock(lock, began);
    }

    fn release(&mut self, index: LockIndex) {
        if let Some(mode) = self.held.remove(&index.0) {
            // SAFETY: acquired so, as `held` says.
            unsafe { self.world.locks[index.0].release(mode) };
        }
    }

    fn count(&self, count: impl FnOnce(&mut TreeUse)) {
        if self.is_counting() {
            count(&mut self.tally.borrow_mut().trees);
        }
    }

    /// What is done under a tree's lock, or instead of that.
    fn section(&mut self, program: &Program, section: &Section) {
        let world = Rc::clone(&self.world);
        let tree = &world.trees[section.tree.0];
        if self.scheme != TreeScheme::Log {
            self.locked(program, section, tree);
            return;
        }
        match (section.put_in, section.taken_out) {
            (1.., 0) => {
                for _ in 0..section.put_in {
                    self.log(program, section, tree);
                }
            }
            (0, 1..) => self.take_out(program, section, tree),
            _ => self.change(program, section, tree),
        }
    }

    fn lock_tree(&self, section: &Section, tree: &Tree) {
        let began = Sim::now();
        tree.lock.acquire();
        self.waited_for_lock(section.lock, began);
        self.count(|trees| trees.locked += 1);
    }

    fn locked(&mut self, program: &Program, section: &Section, tree: &Tree) {
        self.lock_tree(section, tree);
        self.all(program, &section.inside);
        // SAFETY: acquired above.
        unsafe { tree.lock.release() };
    }

    /// Puts a mapping that the log has into the tree.
    fn put_in(&mut self, program: &Program, tree: TreeIndex) {
        self.count(|trees| trees.applied += 1);
        for op in program.insertion.get(&tree).into_iter().flatten() {
            self.step(op);
        }
    }

    fn log(&mut self, program: &Program, section: &Section, tree: &Tree) {
        let mapping = tree.mapping();
        let began = Sim::now();
        // SAFETY: the mapping is this core's and out. It is freed only after it was given up. The log is
        // applied at the end of the world.
        let (inserted, released) = unsafe {
            tree.log.insert(&tree.lock, mapping, self.limit, |_| self.put_in(program, section.tree))
        };
        free(released);
        self.waited_for_lock(section.lock, began);
        self.count(|trees| {
            trees.logged += 1;
            trees.locked += u64::from(matches!(inserted, Inserted::Held | Inserted::Full));
            trees.held += u64::from(inserted == Inserted::Held);
        });
        self.mappings.entry(section.tree).or_default().push(mapping);
    }

    /// Takes mappings out by cancelling their insertions, and returns those for which that came too late, and how
    /// many were cancelled.
    fn cancel(&mut self, section: &Section, tree: &Tree) -> (Vec<Mapping>, u32) {
        let (mut late, mut cancelled) = (Vec::new(), 0);
        for _ in 0..section.taken_out {
            let Some(mapping) = self.mappings.entry(section.tree).or_default().pop() else { break };
            // SAFETY: the mapping is this core's, and in.
            if unsafe { tree.log.cancel(mapping.as_ref()) } {
                cancelled += 1;
                give_up(mapping);
            } else {
                late.push(mapping);
            }
        }
        self.count(|trees| trees.cancelled += u64::from(cancelled));
        (late, cancelled)
    }

    fn take_out(&mut self, program: &Program, section: &Section, tree: &Tree) {
        let (late, cancelled) = self.cancel(section, tree);
        // What was there before the operation is in the tree, too.
        if cancelled < section.taken_out {
            self.locked(program, section, tree);
        }
        late.into_iter().for_each(give_up);
    }

    /// A mapping changes: it is taken out, and put in again with others, while walks are kept out.
    fn change(&mut self, program: &Program, section: &Section, tree: &Tree) {
        self.lock_tree(section, tree);
        let (late, _) = self.cancel(section, tree);
        self.all(program, &section.inside);
        let mut is_full = false;
        for _ in 0..section.put_in {
            let mapping = tree.mapping();
            // Linux puts a mapping that was in the tree back there. Here all go to the log: in these paths hardly any
            // is in the tree.
            // SAFETY: the mapping is this core's and out. Nothing is looked for.
            is_full |= unsafe { tree.log.insert_inside(mapping, self.limit) };
            self.mappings.entry(section.tree).or_default().push(mapping);
        }
        self.count(|trees| trees.logged += u64::from(section.put_in));
        // SAFETY: acquired above.
        unsafe { tree.lock.release() };
        if is_full {
            let limit = self.limit;
            let put_in = |_| self.put_in(program, section.tree);
            // SAFETY: the lock is the log's.
            free(unsafe { tree.log.shorten(&tree.lock, limit, put_in) }.1);
        }
        late.into_iter().for_each(give_up);
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        for (tree, mappings) in self.mappings.drain() {
            for mapping in mappings {
                // SAFETY: the mapping is this core's, and in.
                let _ = unsafe { self.world.trees[tree.0].log.cancel(mapping.as_ref()) };
                give_up(mapping);
            }
        }
    }
}
