//! The chain of waits that bounds the run, as it is reported.

use std::collections::HashMap;

use kilocore_emulation_orders::{Chain, ChainPart, ChainShare, Waits};
use kilocore_sim::{self as sim, HandOver, Place, TaskId};

use crate::{calls, machine};

/// Parts that are reported, the largest ones.
const MOST: usize = 4_000;

/// The places that parts name, by number.
#[derive(Debug)]
struct Numbered {
    numbers: HashMap<Place, u32>,
    all: Vec<Vec<u64>>,
}

impl Numbered {
    fn number(&mut self, place: Place) -> u32 {
        let Self { numbers, all } = self;
        *numbers.entry(place).or_insert_with(|| {
            all.push(calls::addresses(place));
            (all.len() - 1) as u32
        })
    }

    fn part(&mut self, part: sim::ChainPart) -> ChainPart {
        match part {
            sim::ChainPart::Computing(at) => ChainPart::Computing { at: self.number(at) },
            sim::ChainPart::Lines(at) => ChainPart::Lines { at: self.number(at) },
            sim::ChainPart::Spinning(at) => ChainPart::Spinning { at: self.number(at) },
            sim::ChainPart::System(at) => ChainPart::System { at: self.number(at) },
            sim::ChainPart::Asleep(at) => ChainPart::Asleep { at: self.number(at) },
            sim::ChainPart::Outside(at) => ChainPart::Outside { at: self.number(at) },
            sim::ChainPart::HandOver(HandOver { how, waiter, waker }) => ChainPart::HandOver {
                how: waits(how),
                waiter: self.number(waiter),
                waker: self.number(waker),
            },
            sim::ChainPart::Thread(TaskId(number)) => {
                ChainPart::Thread { number: (number != u32::MAX).then_some(number) }
            }
        }
    }
}

fn waits(how: sim::Waits) -> Waits {
    match how {
        sim::Waits::Woken => Waits::Woken,
        sim::Waits::Written => Waits::Written,
        sim::Waits::Kernel => Waits::Kernel,
        sim::Waits::Made => Waits::Made,
        sim::Waits::Core => Waits::Core,
    }
}

/// A chain as it is reported.
pub(crate) fn reported(chain: &sim::Chain) -> Chain {
    let numbers = HashMap::from([(Place::OTHER, 0)]);
    let mut places = Numbered { numbers, all: vec![Vec::new()] };
    let share = |share: &sim::ChainShare| ChainShare {
        part: places.part(share.part),
        count: share.count,
        ns: machine::ns(share.time),
    };
    let parts = chain.parts.iter().take(MOST).map(share).collect();
    Chain { end_ns: machine::ns(chain.end), parts, places: places.all }
}
