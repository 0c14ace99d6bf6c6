//! Fair sharing: the operating system's own scheduler and load balancing, left alone.

use alloc::vec::Vec;

use crate::machine::Machine;
use crate::order::Order;
use crate::policy::Policy;
use crate::window::Window;

/// A policy that gives no orders.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fair;

impl Policy for Fair {
    fn name(&self) -> &'static str {
        "fair"
    }

    fn window(&mut self, _: &Machine, _: &Window<'_>) -> Vec<Order> {
        Vec::new()
    }
}
