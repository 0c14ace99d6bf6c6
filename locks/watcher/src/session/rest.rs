//! The pauses between windows: how long they are, and what is looked at meanwhile.

use std::time::Duration;

use kilocore_linux::thread_time;
use rand_core::Rng;

use super::{Session, about_one};
use crate::cores::usable_cores;
use crate::ids::Moment;
use crate::source::Wait;
use crate::window::Window;
use kilocore_figures::Nanoseconds;

/// No pause is shorter, but for chance.
const LEAST: Nanoseconds = Nanoseconds(2_000_000);
/// How often it is looked in a pause for which locks threads of Java wait.
const LOOKS: u32 = 8;

impl Session {
    /// Pauses after a window, and looks meanwhile for which locks threads of Java wait. Returns whether
    /// all is over.
    pub(super) fn rest(&mut self, window: &Window, wait: Wait<'_>) -> bool {
        self.find_machines();
        let looks = if self.ledger.java_locks.is_needed(&self.family.members) { LOOKS } else { 1 };
        let part = self.pause() / looks;
        for _ in 0..looks {
            if wait(part) {
                return true;
            }
            self.ask_java();
            self.ledger.check_java_locks();
            let chance = self.chance.next_u64();
            for found in self.ledger.java_locks.look(&self.family.members, chance) {
                self.ledger.found_waiting(found, window.length() / f64::from(looks));
            }
        }
        false
    }

    /// Lets virtual machines of Java say where their threads wait.
    pub(super) fn ask_java(&mut self) {
        let held_up = self.ledger.java.turn(&self.family.members);
        self.ledger.cost += Nanoseconds::from(held_up).calculated() * usable_cores();
    }

    /// Finds out where virtual machines of Java keep their locks.
    fn find_machines(&mut self) {
        for pid in self.ledger.java.machines() {
            if !self.ledger.java_locks.knows(pid)
                && let Some(names) = self.names.get_mut(&pid)
            {
                names.refresh();
                self.ledger.java_locks.add(pid, names);
            }
        }
    }

    /// How long to wait before the next window, so that all together costs no more than its share.
    fn pause(&mut self) -> Duration {
        let own = thread_time();
        self.ledger.cost += Nanoseconds::from(own.saturating_sub(self.own_before)).calculated();
        self.own_before = own;
        let due = self.budget.due(Nanoseconds(self.ledger.cost.0 as u64), usable_cores());
        let passed = Moment::now() - self.began;
        // Some of it is chance, so as not to keep step with the program.
        let chance = about_one(&mut self.chance);
        let rest = due.0.saturating_sub(passed.0).max(LEAST.0);
        Duration::from_nanos((rest as f64 * chance) as u64)
    }
}
