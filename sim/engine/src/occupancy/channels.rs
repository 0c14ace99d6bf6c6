//! How long misses queue for memory, by how much of its bandwidth is used.
//!
//! A channel serves lines one after the other, each in the same time, and requests come from many
//! cores, each in bursts, as prefetchers make them: M/D/1 with bursts in the place of lines, where a
//! burst queues for u / (2 (1 − u)) of its service times at utilization u. Whoever waits asks for less:
//! latency and traffic settle where they agree.
//!
//! There is exactly one such point, because the traffic that is asked for only falls as the queue
//! grows, and what the channel carries with such a queue only rises. The difference is convex, so that
//! Newton's method finds the point from below without overshooting, and never leaves it again.
//!
//! Where nodes are buses to one controller, a miss queues for the bus and for the controller. Both are
//! found in the same way, one around the other.
//!
//! The bandwidths of machine files are what programs get, so that banks and turnarounds are in the
//! service time.

use crate::occupancy::demand::Demand;
use crate::occupancy::hardware::Hardware;

/// How many service times a burst queues at this utilization, which is less than 1.
///
/// ```
/// assert_eq!(kilocore_sim::occupancy::queueing(0.0), 0.0);
/// assert_eq!(kilocore_sim::occupancy::queueing(0.5), 0.5);
/// ```
#[must_use]
pub fn queueing(utilization: f64) -> f64 {
    utilization / (2.0 * (1.0 - utilization))
}

/// Lines that a core asks for at once. Estimated: with six, streams on a socket of the machine
/// `xeon-e5345-2s` would no longer get nine tenths of the bandwidth that was measured with such. With
/// single lines, two streams would hardly notice each other, where others found that the bus and the
/// memory make up most of what pairs of programs lose on such machines (Zhuravlev and others, 2010).
const BURST: f64 = 4.0;
/// Rounds of Newton's method, at the most. A few are enough where little has changed since the last
/// time.
const ROUNDS: u32 = 60;
/// How far apart what is asked for and what is carried may stay, as a part of the bandwidth.
const CLOSE: f64 = 1e-6;

/// What the channels carry, in bytes per cycle, and how many cycles misses queue for them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Channels {
    traffic: Vec<f64>,
    /// For the channel itself.
    own: Vec<f64>,
    /// For the controller behind all channels.
    behind: f64,
}

impl Channels {
    pub(crate) fn new(hardware: &Hardware) -> Self {
        Self { traffic: vec![0.0; hardware.nodes], own: vec![0.0; hardware.nodes], behind: 0.0 }
    }

    /// What a channel carries, in bytes per cycle.
    pub(crate) fn traffic(&self, channel: usize) -> f64 {
        self.traffic[channel]
    }

    /// How many cycles misses of a channel queue, for the controller, too.
    pub(crate) fn queue(&self, channel: usize) -> f64 {
        self.own[channel] + self.behind
    }

    /// Settles latency and traffic for what runs now: of the channel `of`, or of all where they lead
    /// to one controller.
    pub(crate) fn settle(&mut self, hardware: &Hardware, running: &[Option<Demand>], of: usize) {
        let bus = Server { line: hardware.line.0, bandwidth: hardware.channel };
        let Some(bandwidth) = hardware.controller else {
            self.settle_one(bus, running, of);
            return;
        };
        let controller = Server { line: hardware.line.0, bandwidth };
        for _ in 0..ROUNDS {
            let (mut traffic, mut slope) = (0.0, 0.0);
            for channel in 0..self.own.len() {
                let (one, its_slope) = self.settle_one(bus, running, channel);
                (traffic, slope) = (traffic + one, slope + its_slope);
            }
            let step = controller.step(self.behind, traffic, slope);
            let Some(queue) = step else { return };
            self.behind = queue;
        }
    }

    /// Settles a channel, with the controller's queue as it is. Returns its traffic, and how that
    /// changes with the controller's queue.
    fn settle_one(
        &mut self,
        bus: Server,
        running: &[Option<Demand>],
        channel: usize,
    ) -> (f64, f64) {
        let mut last = (0.0, 0.0);
        for _ in 0..ROUNDS {
            let queue = self.own[channel] + self.behind;
            let (mut traffic, mut slope) = (0.0, 0.0);
            for demand in running.iter().flatten().filter(|demand| demand.channel == channel) {
                let (one, its_slope) = demand.traffic_and_slope(queue);
                (traffic, slope) = (traffic + one, slope + its_slope);
            }
            self.traffic[channel] = traffic;
            last = (traffic, slope);
            let step = bus.step(self.own[channel], traffic, slope);
            let Some(queue) = step else { break };
            self.own[channel] = queue;
        }
        // A longer queue behind makes the own one shorter.
        let (traffic, slope) = last;
        let rise = bus.carried(self.own[channel]).1;
        (traffic, slope * rise / (rise - slope))
    }
}

/// What lines queue for.
#[derive(Debug, Clone, Copy)]
struct Server {
    /// Bytes of a line.
    line: f64,
    /// How much it moves, in bytes per cycle.
    bandwidth: f64,
}

impl Server {
    /// What is carried while bursts queue for so many cycles, in bytes per cycle, and how that rises
    /// with the queue: [`queueing`], solved for the utilization.
    fn carried(self, queue: f64) -> (f64, f64) {
        let service = BURST * self.line / self.bandwidth;
        let sum = service + 2.0 * queue;
        (self.bandwidth * 2.0 * queue / sum, self.bandwidth * 2.0 * service / (sum * sum))
    }

    /// One step of Newton's method from a queue at which this traffic is asked for, which changes with
    /// the queue by `slope`. Nothing if the queue is right.
    fn step(self, queue: f64, traffic: f64, slope: f64) -> Option<f64> {
        let (carried, rise) = self.carried(queue);
        let excess = traffic - carried;
        if excess.abs() <= CLOSE * self.bandwidth {
            return None;
        }
        Some((queue + excess / (rise - slope)).max(0.0))
    }
}
