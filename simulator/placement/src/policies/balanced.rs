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
//!   reaches the cost of bringing one, the copy is given up.
//! * **The share is learned.** A copy that has saved what it cost to bring has paid, and one that is
//!   given up before has not. If all have paid lately the share is small, and copies are brought almost
//!   at once; if none have, it is 1. What copies of this page did counts most, and what those of all
//!   pages did counts as long as there were few of this one.
//!
//! With a share of 1 all the time this is the work function algorithm for two states. Its cost is at
//! most three times the optimum, whatever the future brings.
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
//! They were chosen of a few values each, on the four programs of the paper with table 1's costs: the
//! first three at the published sizes with 32 processors, the last two at the small sizes with 8, 16 and
//! 32 as well (docs/numa.md has them). They are not known to be best.

use crate::machine::Machine;
use crate::policy::{At, Burst, Decision, Policy};
use crate::units::{NEVER, Node, Page};

/// What the policy starts from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BalancedOptions {
    /// The share of the cost of bringing a copy that has to be saved first if all copies pay. If none
    /// do, it is 1. Over 0 to 1; at 1 nothing is learned.
    pub least_share: f64,
    /// What a copy may lose until it is given up, in costs of bringing one. Over 0.
    pub patience: f64,
    /// How much the latest copy counts among those of all pages that paid or did not. Over 0 to 1.
    pub learning: f64,
    /// As how many copies of this page all pages' copies count. Over 0.
    pub all_pages: f64,
    /// How much less an earlier copy of a page counts than the next one did. Over 0 to 1.
    pub fading: f64,
}

impl Default for BalancedOptions {
    fn default() -> Self {
        Self { least_share: 0.1, patience: 1.0, learning: 1.0 / 64.0, all_pages: 2.0, fading: 0.9 }
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
    /// Writes to the page that the balance knows of.
    known_writes: u64,
}

/// The copies that a page had, the earlier ones for less than 1 each.
#[derive(Debug, Clone, Copy, Default)]
struct Copies {
    paid: f64,
    all: f64,
}

/// See the [module](self).
#[derive(Debug)]
pub struct Balanced {
    options: BalancedOptions,
    /// By page and node.
    accounts: Vec<Account>,
    /// Writes to each page, by anybody.
    writes: Vec<u64>,
    /// By page.
    copies: Vec<Copies>,
    /// The share of all pages' copies that paid.
    paid: f64,
}

impl Balanced {
    /// The policy, for a machine that has met no page.
    #[must_use]
    pub fn new(options: BalancedOptions) -> Self {
        let (accounts, writes, copies) = (Vec::new(), Vec::new(), Vec::new());
        Self { options, accounts, writes, copies, paid: 0.5 }
    }

    /// What has to be saved before a copy is brought.
    fn threshold(&self, page: Page, bringing: i64) -> i64 {
        let BalancedOptions { least_share, all_pages, .. } = self.options;
        let copies = self.copies[page.index()];
        let paid = (self.paid * all_pages + copies.paid) / (all_pages + copies.all);
        let share = 1.0 - (1.0 - least_share) * paid;
        (share * bringing as f64) as i64
    }

    fn make_room(&mut self, machine: &Machine) {
        let pages = machine.pages() as usize;
        if self.writes.len() < pages {
            self.writes.resize(pages, 0);
            self.copies.resize(pages, Copies::default());
            self.accounts.resize(pages * machine.options().nodes as usize, Account::default());
        }
    }

    fn account(&mut self, machine: &Machine, page: Page, node: Node) -> &mut Account {
        &mut self.accounts[page.index() * machine.options().nodes as usize + node.index()]
    }

    fn learn(&mut self, page: Page, paid: bool) {
        let paid = f64::from(u8::from(paid));
        self.paid += (paid - self.paid) * self.options.learning;
        let Copies { paid: before, all } = self.copies[page.index()];
        let fading = self.options.fading;
        self.copies[page.index()] =
            Copies { paid: before * fading + paid, all: all * fading + 1.0 };
    }

    /// A node that has no copy has referred to a page. Returns whether it should get one.
    fn would_have_saved(&mut self, machine: &Machine, at: At, gain: i64, others: u64) -> bool {
        let bringing = machine.options().costs.bringing().0 as i64;
        let told = (machine.options().costs.update.0 * others) as i64;
        let would_be_gone = machine.invalidates() && others > 0;
        if self.account(machine, at.page, at.node).earned.take().is_some() {
            // A write has taken the copy away.
            self.learn(at.page, false);
        }
        let threshold = self.threshold(at.page, bringing);
        let account = self.account(machine, at.page, at.node);
        let before = if would_be_gone { 0 } else { (account.balance - told).max(0) };
        account.balance = (before + gain).max(0);
        let enough = account.balance >= threshold.max(1);
        if enough {
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
            self.learn(at.page, true);
        }
    }

    /// The copies on other nodes have been told of writes. Those that have lost too much go.
    fn have_cost(&mut self, machine: &mut Machine, at: At, writes: u32) {
        let told = (machine.options().costs.update.0 * u64::from(writes)) as i64;
        let bringing = machine.options().costs.bringing().0 as f64;
        let most = (self.options.patience * bringing) as i64;
        let known_writes = self.writes[at.page.index()];
        for node in machine.copies(at.page).without(at.node).iter() {
            let account = self.account(machine, at.page, node);
            account.balance += told;
            account.earned = account.earned.map(|earned| earned - told);
            if account.balance >= most {
                let paid = account.earned.is_none();
                *account = Account { balance: 0, earned: None, known_writes };
                machine.drop_copy(at.page, node);
                if !paid {
                    self.learn(at.page, false);
                }
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
            self.copies[page.index()] = Copies::default();
        }
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
