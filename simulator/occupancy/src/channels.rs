//! How long misses queue for memory, by how much of its bandwidth is used.
//!
//! A channel serves lines one after the other, each in the same time, and requests come from many
//! cores, each in bursts, as prefetchers make them: M/D/1 with bursts in the place of lines, where a
//! burst queues for u / (2 (1 − u)) of its service times at utilization u. Whoever waits asks for less: latency and traffic settle where they agree. There is exactly one such point,
//! because the traffic only falls as the latency rises. It is found by halving, in a fixed number of
//! rounds.
//!
//! Where nodes are buses to one controller, a miss queues for the bus and for the controller, and the
//! traffic of all buses together is found by halving, around that of each.
//!
//! The bandwidths of machine files are what programs get, so that banks and turnarounds are in the
//! service time.

use crate::demand::Demand;
use crate::hardware::Hardware;

/// How many service times a burst queues at this utilization. Utilizations above 0.9995 count as
/// that.
///
/// ```
/// assert_eq!(kilocore_occupancy::queueing(0.0), 0.0);
/// assert_eq!(kilocore_occupancy::queueing(0.5), 0.5);
/// ```
#[must_use]
pub fn queueing(utilization: f64) -> f64 {
    let utilization = utilization.min(FULL);
    utilization / (2.0 * (1.0 - utilization))
}

/// Lines that a core asks for at once. Estimated: with longer bursts, streams on all cores of the machine
/// `xeon-e5345-2s` would no longer get nine tenths of the bandwidth that was measured with such. With
/// single lines, two streams would hardly notice each other, where others found that the bus and the
/// memory make up most of what pairs of programs lose on such machines (Zhuravlev and others, 2010).
const BURST: f64 = 4.0;
/// The utilization beyond which the queue grows no more by the formula: it is 1,000 requests long
/// there. What would use more even then is slowed down further.
const FULL: f64 = 0.9995;
/// Halvings of a range of traffic: one part in 8,192 is left of it.
const ROUNDS: u32 = 13;

/// What the channels carry, in bytes per cycle, and how many cycles misses queue for them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Channels {
    traffic: Vec<f64>,
    queue: Vec<f64>,
}

impl Channels {
    pub(crate) fn new(hardware: &Hardware) -> Self {
        Self { traffic: vec![0.0; hardware.nodes], queue: vec![0.0; hardware.nodes] }
    }

    /// What a channel carries, in bytes per cycle.
    pub(crate) fn traffic(&self, channel: usize) -> f64 {
        self.traffic[channel]
    }

    /// How many cycles misses of a channel queue, for the controller, too.
    pub(crate) fn queue(&self, channel: usize) -> f64 {
        self.queue[channel]
    }

    /// Settles latency and traffic for what runs now: of the channel `of`, or of all where they lead
    /// to one controller.
    pub(crate) fn settle(&mut self, hardware: &Hardware, running: &[Option<Demand>], of: usize) {
        let bus = Server { line: hardware.line.0, bandwidth: hardware.channel };
        let Some(bandwidth) = hardware.controller else {
            return self.settle_one(bus, running, of, 0.0);
        };
        let controller = Server { line: hardware.line.0, bandwidth };
        let (mut low, mut high) = (0.0, bandwidth);
        for _ in 0..ROUNDS {
            let middle = (low + high) / 2.0;
            if self.settle_all(bus, running, controller.queue(middle)) > middle {
                low = middle;
            } else {
                high = middle;
            }
        }
        let mut before = controller.queue(high);
        while self.settle_all(bus, running, before) > bandwidth && before < LONGEST {
            before *= 2.0;
        }
    }

    /// Settles all channels while misses queue for so long elsewhere. Returns their traffic together.
    fn settle_all(&mut self, bus: Server, running: &[Option<Demand>], elsewhere: f64) -> f64 {
        for channel in 0..self.traffic.len() {
            self.settle_one(bus, running, channel, elsewhere);
        }
        self.traffic.iter().sum()
    }

    fn settle_one(
        &mut self,
        bus: Server,
        running: &[Option<Demand>],
        channel: usize,
        elsewhere: f64,
    ) {
        let wanted = |queue: f64| -> f64 {
            let here = running.iter().flatten().filter(|demand| demand.channel == channel);
            here.map(|demand| demand.traffic_at(queue)).sum()
        };
        let (mut low, mut high) = (0.0, bus.bandwidth.min(wanted(elsewhere)));
        for _ in 0..ROUNDS {
            let middle = (low + high) / 2.0;
            if wanted(elsewhere + bus.queue(middle)) > middle {
                low = middle;
            } else {
                high = middle;
            }
        }
        // At the latency that goes with `high`, no more than `high` is wanted, unless that latency
        // is the longest of the formula.
        let mut queue = elsewhere + bus.queue(high);
        while wanted(queue) > bus.bandwidth && queue < LONGEST {
            queue *= 2.0;
        }
        self.queue[channel] = queue;
        self.traffic[channel] = wanted(queue);
    }
}

/// What lines queue for.
#[derive(Debug, Clone, Copy)]
struct Server {
    /// Bytes of a line.
    line: f64,
    /// Bytes per cycle.
    bandwidth: f64,
}

impl Server {
    /// How many cycles a burst queues while so many bytes a cycle are served.
    fn queue(self, traffic: f64) -> f64 {
        BURST * self.line / self.bandwidth * queueing(traffic / self.bandwidth)
    }
}

/// So many cycles of queueing that nothing gets anywhere any more.
const LONGEST: f64 = 1e12;
