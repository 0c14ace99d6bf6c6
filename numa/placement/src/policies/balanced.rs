//! Copies when what a copy would have saved balances what it costs; this project's own.
//!
//! A delay counts references. But a read of a copy saves twenty times what a write costs there, and
//! a write by another node costs as much again. So this policy counts cycles, by a rule for renting or
//! buying skis:
//!
//! * **A node without a copy** adds up what one would have saved it, less what it would have cost to
//!   be told of writes. The sum never falls below 0, since one would have been given up in time. When
//!   it reaches a share of the cost of bringing a copy, one is brought.
//! * **A node with a copy** adds up what it costs, less what it saves, in the same way. When the sum
//!   reaches a multiple of the cost of bringing one, the copy is given up.
//! * **The share is learned.** A copy that has saved what it cost to bring has paid, and one that is
//!   given up before has not. If all have paid the share is small, and copies are brought almost at once;
//!   if none have, it is 1.
//! * **So is the patience**, the multiple of that cost that a copy may lose. To give a copy up has paid if
//!   it would have lost what it costs to bring before it is brought again. If this is so each time, a copy
//!   is given up sooner; if never, later.
//!
//! What happened to a page counts most, and what happened to all pages counts as long as little happened
//! to this one.
//!
//! With a share and a multiple of 1 all the time this is the work function algorithm for two states. Its
//! cost is at most three times the optimum, whatever the future brings.
//!
//! # What the hardware has to do
//! More than the paper's counters: there is a counter of writes for each page, in its home, and the
//! counters of a processor add and subtract cycles instead of 1. A node that has no copy learns of
//! others' writes by looking at the page's counter when it refers to it remotely, which it has to do
//! anyway. There is no daemon, and nobody is told of anything.
//!
//! Under write-invalidate a write by another node ends a copy. So it ends the sum of what one would have
//! saved, too.
//!
//! # Where the constants come from
//! They were chosen of a few values each, on the four programs of the paper with table 1's costs: at the
//! published sizes with 32 processors, which are 4, 8, 16 or 32 nodes, and at the small sizes with 8, 16
//! and 32 (docs/evidence/numa.md has them). They are not known to be best.

use crate::machine::Machine;
use crate::policies::experience::{Experience, Weights};
use crate::policy::{At, Burst, Decision, Policy};
use crate::units::{NEVER, Node, Page};

/// What the policy starts from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BalancedOptions {
    /// The share of the cost of bringing a copy that has to be saved first if all copies pay. If none
    /// do, it is 1. Over 0 to 1; at 1 nothing is learned.
    pub least_share: f64,
    /// What a copy may lose until it is given up, in costs of bringing one, if half of those that were
    /// given up should have been. Over 0.
    pub patience: f64,
    /// By how much the patience is multiplied if none of them should have been, and divided if all should.
    /// At least 1; at 1 it is not learned.
    pub stretch: f64,
    /// How experience is weighed.
    pub weights: Weights,
}

impl Default for BalancedOptions {
    fn default() -> Self {
        let weights = Weights { learning: 1.0 / 64.0, all_pages: 2.0, fading: 0.9 };
        Self { least_share: 0.1, patience: 1.0, stretch: 4.0, weights }
    }
}

/// What is known of a node and a page.
#[derive(Debug, Clone, Copy, Default)]
struct Account {
    /// Cycles that a copy would have saved, or has lost if there is one. It is never below 0.
    balance: i64,
    /// Cycles that a copy has saved since it was brought, less what it has cost. `None` if it has paid,
    /// and if there is none.
    earned: Option<i64>,
    /// Cycles that the copy given up last would have lost since then, less what it would have saved.
    /// `None` if that has turned out, and if none was given up.
    spared: Option<i64>,
    /// Writes to the page that the balance knows of.
    known_writes: u64,
}

/// The policy that weighs what a copy saves against what it costs.
#[derive(Debug)]
pub struct Balanced {
    options: BalancedOptions,
    /// By page and node.
    accounts: Vec<Account>,
    /// Writes to each page, by anybody.
    writes: Vec<u64>,
    /// How often copies paid that were brought.
    brought: Experience,
    /// Whether it paid to give copies up.
    given_up: Experience,
}

impl Balanced {
    /// The policy, for a machine that has met no page.
    #[must_use]
    pub fn new(options: BalancedOptions) -> Self {
        let (brought, given_up) = (Experience::none(), Experience::none());
        Self { options, accounts: Vec::new(), writes: Vec::new(), brought, given_up }
    }

    /// What has to be saved before a copy is brought.
    fn threshold(&self, page: Page, bringing: i64) -> i64 {
        let BalancedOptions { least_share, weights, .. } = &self.options;
        let share = 1.0 - (1.0 - least_share) * self.brought.expected(weights, page);
        (share * bringing as f64) as i64
    }

    /// What has to be lost before a copy is given up.
    fn most_lost(&self, page: Page, bringing: i64) -> i64 {
        self.patience_of(self.given_up.expected(&self.options.weights, page), bringing)
    }

    /// The same if so large a share of those that were given up should have been.
    fn patience_of(&self, rightly: f64, bringing: i64) -> i64 {
        let BalancedOptions { patience, stretch, .. } = self.options;
        (patience * stretch.powf(1.0 - 2.0 * rightly) * bringing as f64) as i64
    }

    fn make_room(&mut self, machine: &Machine) {
        let pages = machine.pages() as usize;
        if self.writes.len() < pages {
            self.writes.resize(pages, 0);
            self.brought.make_room(pages);
            self.given_up.make_room(pages);
            self.accounts.resize(pages * machine.options().nodes as usize, Account::default());
        }
    }

    fn account(&mut self, machine: &Machine, page: Page, node: Node) -> &mut Account {
        &mut self.accounts[page.index() * machine.options().nodes as usize + node.index()]
    }

    /// A node that has no copy has referred to a page. Returns whether it should get one.
    fn would_have_saved(&mut self, machine: &Machine, at: At, gain: i64, others: u64) -> bool {
        let bringing = machine.options().costs.bringing().0 as i64;
        let told = (machine.options().costs.update.0 * others) as i64;
        let would_be_gone = machine.invalidates() && others > 0;
        if self.account(machine, at.page, at.node).earned.take().is_some() {
            // A write has taken the copy away.
            self.brought.learn(&self.options.weights, at.page, false);
        }
        let threshold = self.threshold(at.page, bringing);
        let account = self.account(machine, at.page, at.node);
        let before = if would_be_gone { 0 } else { (account.balance - told).max(0) };
        account.balance = (before + gain).max(0);
        let enough = account.balance >= threshold.max(1);
        account.spared = account.spared.map(|spared| spared + told - gain);
        let worth_it = account.spared.is_some_and(|spared| spared >= bringing);
        if account.spared.is_some() && (worth_it || enough) {
            account.spared = None;
            self.given_up.learn(&self.options.weights, at.page, worth_it);
        }
        if enough {
            let account = self.account(machine, at.page, at.node);
            *account = Account { balance: 0, earned: Some(0), ..*account };
        }
        enough
    }

    /// A node has referred to its copy.
    fn has_saved(&mut self, machine: &Machine, at: At, gain: i64) {
        let bringing = machine.options().costs.bringing().0 as i64;
        let account = self.account(machine, at.page, at.node);
        account.balance = (account.balance - gain).max(0);
        account.earned = account.earned.map(|earned| earned + gain);
        if account.earned.is_some_and(|earned| earned >= bringing) {
            account.earned = None;
            self.brought.learn(&self.options.weights, at.page, true);
        }
    }

    /// The copies on other nodes have been told of writes. Those that have lost too much go.
    fn have_cost(&mut self, machine: &mut Machine, at: At, writes: u32) {
        let told = (machine.options().costs.update.0 * u64::from(writes)) as i64;
        let bringing = machine.options().costs.bringing().0 as i64;
        let soonest = self.patience_of(1.0, bringing);
        let known_writes = self.writes[at.page.index()];
        for node in machine.copies(at.page).without(at.node).iter() {
            let account = self.account(machine, at.page, node);
            account.balance += told;
            account.earned = account.earned.map(|earned| earned - told);
            let (lost, paid) = (account.balance, account.earned.is_none());
            // Most copies are far from it, and need no experience.
            if lost < soonest || lost < self.most_lost(at.page, bringing) {
                continue;
            }
            let account = self.account(machine, at.page, node);
            *account = Account { balance: 0, earned: None, spared: Some(0), known_writes };
            machine.drop_copy(at.page, node);
            if !paid {
                self.brought.learn(&self.options.weights, at.page, false);
            }
        }
    }
}

impl Policy for Balanced {
    fn first_remote(&mut self, _: &mut Machine, _: At) -> u32 {
        NEVER
    }

    fn exhausted(&mut self, _: &mut Machine, _: At) -> Decision {
        Decision::Stay(NEVER)
    }

    fn forget(&mut self, machine: &Machine, page: Page) {
        let nodes = machine.options().nodes as usize;
        if let Some(accounts) = self.accounts.chunks_mut(nodes).nth(page.index()) {
            accounts
                .fill(Account { known_writes: self.writes[page.index()], ..Account::default() });
        }
        self.brought.forget(page);
        self.given_up.forget(page);
    }

    fn watches(&self) -> bool {
        true
    }

    fn watched(&mut self, machine: &mut Machine, at: At, burst: Burst) -> Decision {
        self.make_room(machine);
        let costs = &machine.options().costs;
        let home = machine.home(at.page);
        let cycles = |cost: kilocore_platform::Cycles| cost.0 as i64;
        let local = cycles(costs.local);
        let a_read = cycles(costs.read(machine.options().nodes, at.node, home)) - local;
        // A copy is written, and so is the page at home.
        let a_write = cycles(costs.remote_write) - local - cycles(costs.update);
        let gain = a_read * i64::from(burst.reads) + a_write * i64::from(burst.writes);
        let before = self.writes[at.page.index()];
        let after = before + u64::from(burst.writes);
        self.writes[at.page.index()] = after;
        let account = self.account(machine, at.page, at.node);
        let others = before - account.known_writes;
        account.known_writes = after;
        let copies = machine.copies(at.page);
        let bring = if copies.contains(at.node) {
            self.has_saved(machine, at, gain);
            false
        } else {
            home != at.node && self.would_have_saved(machine, at, gain, others)
        };
        if burst.writes > 0 && !copies.is_empty() {
            self.have_cost(machine, at, burst.writes);
        }
        if bring { Decision::Replicate } else { Decision::Stay(NEVER) }
    }
}
