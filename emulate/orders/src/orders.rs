//! What is asked for.

use kilocore_machine::Description;
use serde::{Deserialize, Serialize};

use crate::Window;

/// How a program is to be emulated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Orders {
    /// The machine.
    pub machine: Description,
    /// How many of its hardware threads the program may use: those that come first in the machine's compact
    /// order.
    pub cores: u32,
    /// Seeds all chance.
    pub seed: u64,
    /// By how many cycles a thread may run ahead of the others, where they cannot notice it. 500 to 10,000 make
    /// sense. More is faster, and less exact.
    pub disorder: u64,
    /// How many cycles an instruction takes that refers to nothing, or to lines that its core has: more than 0.
    pub cycles_per_instruction: f64,
    /// Whether pages of memory lie on all nodes in turn, and not each on that of the core that touches it first.
    pub interleaved: bool,
    /// The part of the run that is asked for.
    pub window: Window,
    /// Whether the calls that led there are to be told of where time went. That takes the host longer, and changes
    /// nothing else.
    pub stacks: bool,
}

/// Why orders cannot be followed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OrdersError {
    /// They are not JSON, or have other fields.
    #[error("the orders are not what they should be: {0}")]
    Malformed(#[from] serde_json::Error),
    /// An instruction takes no time, or is no number.
    #[error("an instruction takes {0} cycles; give a number above 0 and at most 1,000")]
    Instruction(f64),
}

impl Orders {
    /// How many cycles an instruction takes if nobody says so. Estimated: programs of several threads do 0.5 to
    /// 2 instructions in a cycle between their misses.
    pub const CYCLES_PER_INSTRUCTION: f64 = 1.0;
    /// How many cycles a thread may run ahead if nobody says so.
    pub const DISORDER: u64 = 2_000;

    /// The usual way for so many cores of a machine.
    #[must_use]
    pub fn new(machine: Description, cores: u32) -> Self {
        Self {
            machine,
            cores,
            seed: 1,
            disorder: Self::DISORDER,
            cycles_per_instruction: Self::CYCLES_PER_INSTRUCTION,
            interleaved: false,
            window: Window::default(),
            stacks: false,
        }
    }

    /// Whether an instruction can take so many cycles.
    #[must_use]
    pub fn is_possible(cycles_per_instruction: f64) -> bool {
        cycles_per_instruction > 0.0 && cycles_per_instruction <= 1_000.0
    }

    /// Reads orders.
    ///
    /// # Errors
    /// If they cannot be followed.
    pub fn read(bytes: &[u8]) -> Result<Self, OrdersError> {
        let orders: Self = serde_json::from_slice(bytes)?;
        let takes = orders.cycles_per_instruction;
        if Self::is_possible(takes) { Ok(orders) } else { Err(OrdersError::Instruction(takes)) }
    }

    /// The bytes that [`read`](Self::read) takes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("all of it can be written as JSON")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read_as_they_were_written() {
        let machine = kilocore_machine::find("opteron-6344-4s").expect("built in");
        let orders = Orders::new(machine, 48);
        assert_eq!(Orders::read(&orders.to_bytes()).expect("as it was written"), orders);
        for takes in [0.0, -1.0, 1e9] {
            let bad = Orders { cycles_per_instruction: takes, ..orders.clone() };
            let error = Orders::read(&bad.to_bytes()).expect_err("no such instruction");
            assert!(matches!(error, OrdersError::Instruction(_)), "{error}");
        }
        assert!(matches!(Orders::read(b"{}"), Err(OrdersError::Malformed(_))));
    }
}
