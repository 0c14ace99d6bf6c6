//! Where time went by the calls that led there, if somebody asked for it. If nobody did, nothing is done.
//!
//! A sample of where a thread computes counts for the calls that it is in, and so does all that the simulator lets a
//! thread wait for lines, spin, or be in the kernel.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use kilocore_emulation_orders::{Orders, StackCall, Stacks};
use kilocore_platform::Cycles;
use kilocore_sim::{Activity, Guest, TaskTimes};

use crate::{calls, machine};

/// Calls that are told apart. What is behind further ones counts for those before them.
const MOST: usize = 1 << 16;

static ON: AtomicBool = AtomicBool::new(false);
static TREE: Mutex<Option<Tree>> = Mutex::new(None);

#[derive(Debug)]
struct Tree {
    calls: Vec<Call>,
    /// By the call before, and the address.
    numbers: HashMap<(u32, u64), u32>,
}

#[derive(Debug, Default)]
struct Call {
    before: u32,
    code: u64,
    samples: u64,
    waited: Cycles,
    spun: Cycles,
    system: Cycles,
}

impl Default for Tree {
    fn default() -> Self {
        let calls = (0..Stacks::BEGINNINGS).map(|_| Call::default()).collect();
        Self { calls, numbers: HashMap::new() }
    }
}

impl Tree {
    /// The call at these addresses, the outermost first, of the main thread or another one.
    fn at(&mut self, is_main: bool, addresses: &[u64]) -> &mut Call {
        let mut at = u32::from(!is_main);
        for &code in addresses {
            let next = self.calls.len() as u32;
            match self.numbers.get(&(at, code)) {
                Some(&known) => at = known,
                None if self.calls.len() == MOST => break,
                None => {
                    self.numbers.insert((at, code), next);
                    self.calls.push(Call { before: at, code, ..Call::default() });
                    at = next;
                }
            }
        }
        &mut self.calls[at as usize]
    }
}

fn tree() -> MutexGuard<'static, Option<Tree>> {
    TREE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The program begins.
pub(crate) fn begin(orders: &Orders) {
    ON.store(orders.stacks, Ordering::Relaxed);
}

#[inline(always)]
fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Changes what is known of where a thread is, which runs.
fn change(guest: &Guest, code: u64, change: impl FnOnce(&mut Call)) {
    let addresses = calls::outermost_first(code);
    change(tree().get_or_insert_default().at(guest.task().0 == 0, &addresses));
}

/// A thread that runs computes at an address: a sample.
pub(crate) fn sample(guest: &Guest, code: u64) {
    if is_on() {
        change(guest, code, |call| call.samples += 1);
    }
}

/// What the core of a thread that runs has done for it, if that is asked for.
#[inline]
pub(crate) fn times(guest: &Guest) -> Option<TaskTimes> {
    is_on().then(|| guest.times())
}

/// The simulator has let a thread, which runs, wait for something since then.
#[inline]
pub(crate) fn passed(guest: &Guest, before: Option<TaskTimes>) {
    if let Some(before) = before {
        let since = guest.times().since(&before);
        let [waited, system] = [Activity::Stalled, Activity::System].map(|of| since.of(of));
        let spun = since.of(Activity::Spinning) + since.of(Activity::LowPower);
        if waited + spun + system > Cycles(0) {
            change(guest, calls::at(), |call| {
                call.waited += waited;
                call.spun += spun;
                call.system += system;
            });
        }
    }
}

/// Forgets what was so far.
pub(crate) fn forget() {
    *tree() = None;
}

/// All of it, as it is reported.
pub(crate) fn reported() -> Stacks {
    let tree = tree().take().filter(|_| is_on());
    let of = |call: &Call| StackCall {
        before: call.before,
        code: call.code,
        samples: call.samples,
        waited_ns: machine::ns(call.waited),
        spun_ns: machine::ns(call.spun),
        system_ns: machine::ns(call.system),
    };
    let calls = tree.map_or_else(Vec::new, |tree| tree.calls.iter().map(of).collect());
    Stacks { calls }
}
