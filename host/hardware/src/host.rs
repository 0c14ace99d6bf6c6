//! All measurements together.

use kilocore_figures::lower_median;

use crate::core_clock::loaded_core_clock_ghz;
use crate::core_to_core::{samples, spread};
use crate::holding::write_hold_ns;
use crate::identity::{cpuinfo_field, host_name, relative, today};
use crate::interrupts::{Interrupted, interrupted};
use crate::migratory::migratory_sharing;
use crate::pages::{PageCosts, page_costs};
use crate::pinned::{Pinned, allowed};
use crate::sysfs::{Processor, Shape, shape};
use crate::waking::{GoingIdle, Waking, waking};
use crate::{MeasureError, SYSTEM, memory, processor, system};
use kilocore_machine::{
    Caches, Coherence, Description, Distance, Figure, Latencies, Memory, OperatingSystem, Power,
    Topology,
};
use std::path::Path;
use std::time::Duration;

/// Time for one kind of core-to-core latency.
const LATENCY_TIME: Duration = Duration::from_millis(200);

/// How often all is measured at most, if the cores are not as far apart at its end as they were: those who run a virtual machine
/// may move it to other cores.
const TRIES: u32 = 3;
/// Two latencies of the same cores differ by at most so many times.
const AS_FAR: f64 = 1.3;

/// Measures this host. Takes about five seconds and at most 1 GiB of memory, and up to three times as long if the host changes
/// meanwhile.
///
/// The description is named `host` and validated.
///
/// # Errors
/// As [`MeasureError`] lists.
pub fn measure_host() -> Result<Description, MeasureError> {
    let mut shape = shape(Path::new(SYSTEM))?;
    let usable = allowed();
    shape.processors.retain(|p| usable.contains(&p.cpu));
    let home = shape.processors.first().ok_or(MeasureError::NoProcessor)?.cpu;
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let host = Host {
        by: format!("measured on {} on {} by kilocore record machine", host_name(), today()),
        like: relative(&cpuinfo)?,
        shape,
        home,
    };
    let mut tries = 1;
    let description = loop {
        let description = host.describe(&cpuinfo)?;
        if tries == TRIES || host.is_as_before(&description.latency)? {
            break description;
        }
        tries += 1;
    };
    description.validate()?;
    Ok(description)
}

/// Four digits, which are more than any of these measurements has.
fn round(value: f64) -> f64 {
    let digits = 3 - value.abs().max(1e-9).log10().floor() as i32;
    let scale = 10_f64.powi(digits);
    (value * scale).round() / scale
}

/// Raises a figure to the least value that it may have. If the figure was taken from another
/// machine, its source says that it was raised.
fn at_least(figure: &mut Figure, bound: f64, of: &str) {
    if figure.value < bound {
        figure.value = bound;
        if let Some(estimated) = &mut figure.estimated {
            *estimated += &format!("; raised to {of} here");
        }
    }
}

/// What all the measurements share.
struct Host {
    /// The source of what is measured.
    by: String,
    /// The machine from which the rest is taken.
    like: Description,
    /// The host, with only those processors that may be used.
    shape: Shape,
    /// The processor that measurements of one core run on.
    home: u32,
}

impl Host {
    fn describe(&self, cpuinfo: &str) -> Result<Description, MeasureError> {
        let pinned = Pinned::to(self.home)?;
        let clock_ghz = self.clock(cpuinfo);
        let mut caches = self.caches(clock_ghz.value)?;
        let rmw = processor::rmw_ns()
            .map(|ns| (ns * clock_ghz.value - caches.hit_cycles.value).clamp(0.0, 1e3));
        let pause = processor::pause_ns().map(|ns| (ns * clock_ghz.value).min(1e3));
        let zeroed_line_ns = memory::zeroing_ns(self.shape.shared_kib.max(4096.0) * 4.0)?;
        drop(pinned);
        let latency = self.latencies(caches.hit_cycles.value / clock_ghz.value)?;
        let name = cpuinfo_field(cpuinfo, "model name").unwrap_or("unnamed processor");
        let memory = self.memory(caches.shared_kib.value)?;
        // Each line from memory takes a latency, and the one that leaves for it a last-level hit.
        let under_way = (memory.local_ns.value + caches.shared_hit_ns.value) / zeroed_line_ns;
        let mut under_way = self.measured(under_way.clamp(1.0, 1024.0));
        under_way.source = under_way.source.map(|by| format!("{by}, by zeroing pages in memory"));
        caches.lines_under_way = Some(under_way);
        let title = format!("{name}: {} hardware threads, this host", self.shape.processors.len());
        Ok(Description {
            schema: kilocore_machine::SCHEMA,
            name: "host".to_owned(),
            title,
            topology: self.topology(),
            smt_throughput: self.smt_throughput(),
            coherence: self.coherence_between_cores(&latency, rmw, pause)?,
            latency,
            memory,
            caches,
            clock_ghz,
            os: self.os()?,
            power: self.power(),
        })
    }

    /// This is not measured. It depends on what the threads run, and a loop made for the purpose
    /// would tell only about that loop.
    fn smt_throughput(&self) -> Figure {
        let threads = f64::from(self.shape.topology.threads_per_core);
        if threads <= 1.0 {
            let estimated = Some("cores have one hardware thread here".to_owned());
            return Figure { value: 1.0, source: None, estimated };
        }
        let like = self.like.smt_throughput.value;
        self.estimate(like.min(threads), "not measured, as it depends on what the threads run")
    }

    fn power(&self) -> Power {
        let like = &self.like.power;
        Power {
            active_w: self.lent(&like.active_w),
            spin_w: self.lent(&like.spin_w),
            low_power_w: self.lent(&like.low_power_w),
            idle_w: self.lent(&like.idle_w),
            socket_w: self.lent(&like.socket_w),
        }
    }

    fn topology(&self) -> Topology {
        let mut topology = self.shape.topology.clone();
        topology.source = format!("{}; {}", topology.source, self.by);
        topology
    }

    fn measured(&self, value: f64) -> Figure {
        Figure { value: round(value), source: Some(self.by.clone()), estimated: None }
    }

    /// A figure that the system lists, to the last digit.
    fn listed(&self, value: f64) -> Figure {
        let source = Some(format!("listed by Linux in {SYSTEM}; {}", self.by));
        Figure { value, source, estimated: None }
    }

    /// A figure of the other machine.
    fn lent(&self, figure: &Figure) -> Figure {
        self.estimate(figure.value, "not measurable here")
    }

    fn estimate(&self, value: f64, why: &str) -> Figure {
        let estimated = format!("{why}: after `{}` of the same maker", self.like.name);
        Figure { value, source: None, estimated: Some(estimated) }
    }

    fn measured_or(&self, value: Option<f64>, lent: &Figure) -> Figure {
        value.map_or_else(|| self.lent(lent), |value| self.measured(value))
    }

    /// That of its cores, if it can be measured. The frequency of the time-stamp counter is what the maker states, from
    /// which cores are far for as long as they work.
    fn clock(&self, cpuinfo: &str) -> Figure {
        let processors: Vec<u32> = self.shape.processors.iter().map(|own| own.cpu).collect();
        if let Some(ghz) = loaded_core_clock_ghz(&processors).or_else(processor::tsc_ghz) {
            return self.measured(ghz);
        }
        let mhz = cpuinfo_field(cpuinfo, "cpu MHz").and_then(|mhz| mhz.parse::<f64>().ok());
        let maximum = std::fs::read_to_string(format!(
            "{SYSTEM}/cpu/cpu{}/cpufreq/cpuinfo_max_freq",
            self.home
        ));
        let khz = maximum.ok().and_then(|khz| khz.trim().parse::<f64>().ok());
        self.measured_or(
            khz.map(|khz| khz / 1e6).or(mhz.map(|mhz| mhz / 1e3)),
            &self.like.clock_ghz,
        )
    }

    fn caches(&self, clock_ghz: f64) -> Result<Caches, MeasureError> {
        let shape = &self.shape;
        let hit = memory::cached_ns(16.0_f64.min(shape.private_kib / 2.0))? * clock_ghz;
        let shared_hit = if shape.shared_kib > 0.0 {
            // Beyond the private caches, and well within the shared one.
            let kib = (shape.private_kib * 4.0).min(shape.shared_kib / 2.0).max(64.0);
            self.measured(memory::cached_ns(kib)?)
        } else {
            self.measured(0.0)
        };
        let own_line = memory::zeroing_ns(shape.private_kib / 2.0)? * clock_ghz;
        Ok(Caches {
            line_bytes: shape.line_bytes,
            hit_cycles: self.measured(hit.max(1.0)),
            private_kib: self.listed(shape.private_kib),
            shared_kib: self.listed(shape.shared_kib),
            shared_per_node: shape.shared_per_node,
            shared_hit_ns: shared_hit,
            shared_finds_copies: self.lent(&self.like.caches.shared_finds_copies),
            shared_holds_private: processor::last_level_is_inclusive().map(|is| {
                let source = Some(format!("stated by the processor; {}", self.by));
                Figure { value: f64::from(u8::from(is)), source, estimated: None }
            }),
            own_line_cycles: Some(self.measured(own_line.clamp(0.1, 100.0))),
            lines_under_way: None,
        })
    }

    /// Returns some pairs of usable processors at a distance, spread over the machine.
    fn pairs(&self, wanted: Distance) -> Vec<(Processor, Processor)> {
        let all = &self.shape.processors;
        let topology = &self.shape.topology;
        let pairs: Vec<_> = all
            .iter()
            .enumerate()
            .flat_map(|(i, &a)| all[i + 1..].iter().map(move |&b| (a, b)))
            .filter(|(a, b)| distance(topology, a, b) == wanted)
            .collect();
        spread(&pairs, 8)
    }

    /// Returns the median latency at a distance, or `None` if no two usable processors are that far
    /// apart.
    fn latency_at(&self, wanted: Distance) -> Result<Option<f64>, MeasureError> {
        let pairs = self.pairs(wanted);
        let share = LATENCY_TIME / u32::try_from(pairs.len().max(1)).unwrap_or(1);
        let taken: Result<Vec<f64>, _> =
            pairs.iter().map(|(a, b)| samples(a.cpu, b.cpu, share, share * 5)).collect();
        Ok(lower_median(taken?))
    }

    /// Whether the nearest cores are as far apart as they were.
    fn is_as_before(&self, latency: &Latencies) -> Result<bool, MeasureError> {
        let Some((at, _)) = self.nearest_cores() else { return Ok(true) };
        let before = match at {
            Distance::SameGroup => latency.same_group_ns.value,
            Distance::SameNode => latency.same_node_ns.value,
            _ => latency.same_socket_ns.value,
        };
        let now = self.latency_at(at)?;
        Ok(now.is_none_or(|now| now.max(before) <= AS_FAR * now.min(before)))
    }

    /// The first two cores of those that are nearest to each other, within a socket, and how far apart they are.
    fn nearest_cores(&self) -> Option<(Distance, (Processor, Processor))> {
        let near = [Distance::SameGroup, Distance::SameNode, Distance::SameSocket];
        near.into_iter().find_map(|at| Some((at, self.pairs(at).first().copied()?)))
    }

    fn latencies(&self, hit_ns: f64) -> Result<Latencies, MeasureError> {
        // From near to far, each latency is at least the one before it. Measurements scatter, so
        // those of equal distances could come in the wrong order.
        let mut nearer = hit_ns.max(0.1);
        let mut level = |wanted: Distance,
                         exists: bool,
                         lent: &Figure|
         -> Result<Figure, MeasureError> {
            let mut figure = match self.latency_at(wanted)? {
                Some(ns) => self.measured(ns),
                // The machine has such a distance, but not between processors that may be used.
                None if exists => self.lent(lent),
                None => Figure {
                    value: round(nearer),
                    source: None,
                    estimated: Some("no two cores or threads of this machine are that far apart: as the next nearer level".to_owned()),
                },
            };
            at_least(&mut figure, round(nearer), "the next nearer level");
            nearer = figure.value;
            Ok(figure)
        };
        let (has, like) = (&self.shape.topology, &self.like.latency);
        let same_core_ns = level(Distance::SameCore, has.threads_per_core > 1, &like.same_core_ns)?;
        let same_group_ns =
            level(Distance::SameGroup, has.cores_per_group > 1, &like.same_group_ns)?;
        let same_node_ns = level(Distance::SameNode, has.groups_per_node > 1, &like.same_node_ns)?;
        let same_socket_ns =
            level(Distance::SameSocket, has.nodes_per_socket > 1, &like.same_socket_ns)?;
        // This is set on one socket too, so that sockets can be added to a copy of the file.
        let other_socket_ns = level(Distance::Sockets { hops: 1 }, true, &like.other_socket_ns)?;
        let two_hops = self.latency_at(Distance::Sockets { hops: 2 })?;
        let per_hop = two_hops.map(|ns| (ns - other_socket_ns.value).max(0.0));
        let per_hop_ns = self.measured_or(per_hop, &self.like.latency.per_hop_ns);
        Ok(Latencies {
            same_core_ns,
            same_group_ns,
            same_node_ns,
            same_socket_ns,
            other_socket_ns,
            per_hop_ns,
        })
    }

    /// Most of this can be measured only on many cores. It is taken from the other machine, and
    /// scaled by the ratio of the latencies within a node if there was one to measure here.
    fn coherence(
        &self,
        latency: &Latencies,
        rmw_cycles: Option<f64>,
        pause_cycles: Option<f64>,
    ) -> Coherence {
        let like = &self.like.coherence;
        let within = [&latency.same_group_ns, &latency.same_node_ns];
        let ratio = if within.iter().any(|figure| figure.source.is_some()) {
            latency.same_node_ns.value / self.like.latency.same_node_ns.value
        } else {
            1.0
        };
        let scaled = |figure: &Figure| {
            let value = (figure.value * ratio * 10.0).round() / 10.0;
            self.estimate(value, "takes many cores to measure; scaled by the latency within a node")
        };
        Coherence {
            line_service_ns: scaled(&like.line_service_ns),
            write_hold_ns: None,
            migratory_sharing: None,
            invalidate_per_sharer_ns: scaled(&like.invalidate_per_sharer_ns),
            home_service_ns: scaled(&like.home_service_ns),
            rmw_cycles: self.measured_or(rmw_cycles, &like.rmw_cycles),
            pause_cycles: self.measured_or(pause_cycles, &like.pause_cycles),
        }
    }

    /// The same, with what the two nearest cores tell: how far apart they are does not decide what a core does when another
    /// one asks for its line.
    fn coherence_between_cores(
        &self,
        latency: &Latencies,
        rmw_cycles: Option<f64>,
        pause_cycles: Option<f64>,
    ) -> Result<Coherence, MeasureError> {
        let mut coherence = self.coherence(latency, rmw_cycles, pause_cycles);
        if let Some((_, (a, b))) = self.nearest_cores() {
            let hold = write_hold_ns(a.cpu, b.cpu)?;
            coherence.write_hold_ns = hold.map(|ns| self.measured(ns));
            let takes = migratory_sharing(a.cpu, b.cpu)?;
            coherence.migratory_sharing = takes.map(|takes| self.measured(f64::from(takes)));
        }
        Ok(coherence)
    }

    fn memory(&self, cache_kib: f64) -> Result<Memory, MeasureError> {
        let like = &self.like.memory;
        let (local, bytes) = memory::memory_ns(self.home, self.home, cache_kib)?;
        let mut local_ns = self.measured(local);
        local_ns.source =
            local_ns.source.map(|by| format!("{by}, over a buffer of {} MiB", bytes >> 20));
        let near = self.pairs(Distance::Sockets { hops: 1 });
        let far = near.first().or(self.pairs(Distance::SameSocket).first()).copied();
        let remote = match far {
            Some((a, b)) => Some(memory::memory_ns(a.cpu, b.cpu, cache_kib)?.0),
            None => None,
        };
        let mut remote_ns = self.measured_or(remote, &like.remote_ns);
        at_least(&mut remote_ns, local_ns.value, "the node's own memory");
        // One thread of each core.
        let mut cores: Vec<Processor> = self.shape.processors.clone();
        cores.sort_by_key(|p| (p.core, p.cpu));
        cores.dedup_by_key(|p| p.core);
        let mut nodes: Vec<u32> = cores.iter().map(|p| p.node).collect();
        nodes.dedup();
        let cpus: Vec<u32> = cores.iter().map(|p| p.cpu).collect();
        let all = memory::bandwidth_gb_per_s(&cpus, cache_kib * nodes.len() as f64)?;
        let bandwidth_gb_per_s = self.measured((all / nodes.len() as f64).max(0.1));
        Ok(Memory { local_ns, remote_ns, bandwidth_gb_per_s, shared_controller_gb_per_s: None })
    }

    fn os(&self) -> Result<OperatingSystem, MeasureError> {
        let like = &self.like.os;
        let home = self.shape.processors.first();
        let other =
            self.shape.processors.iter().find(|p| home.is_some_and(|home| home.core != p.core));
        let futex_call = system::futex_call_ns();
        let switch = system::context_switch_ns(self.home, futex_call.unwrap_or(0.0))?;
        let wake = match other {
            Some(other) => waking(self.home, other.cpu)?,
            None => None,
        };
        let pages = page_costs(self.home)?;
        let interrupts = interrupted(self.home)?;
        let interrupt =
            |of: fn(Interrupted) -> f64| interrupts.map(of).map(|figure| self.measured(figure));
        let page = |of: fn(PageCosts) -> f64| pages.map(of).map(|ns| self.measured(ns));
        let going = |of: fn(GoingIdle) -> f64| {
            wake.and_then(|wake| wake.going).map(of).map(|ns| self.measured(ns))
        };
        let figure = |of: fn(Waking) -> f64, lent: &Figure| self.measured_or(wake.map(of), lent);
        Ok(OperatingSystem {
            context_switch_ns: self.measured_or(switch, &like.context_switch_ns),
            futex_call_ns: self.measured_or(futex_call, &like.futex_call_ns),
            queued_kernel_locks: like.queued_kernel_locks.clone(),
            requeued_broadcasts: None,
            page_fault_ns: page(|costs| costs.fault),
            file_page_ns: page(|costs| costs.file_page),
            unmap_page_ns: page(|costs| costs.unmap),
            interrupt_every_us: interrupt(|seen| seen.every_us),
            interrupt_ns: interrupt(|seen| seen.takes_ns),
            mapping_locks: system::has_mapping_locks().map(|has| self.measured(f64::from(has))),
            wake_ns: figure(|wake| wake.cost_ns, &like.wake_ns),
            wake_latency_ns: figure(|wake| wake.delay_ns, &like.wake_latency_ns),
            idle_entry_ns: going(|going| going.entry_ns),
            idle_return_ns: going(|going| going.return_ns),
            deep_idle_after_us: figure(|wake| wake.deep_after_us, &like.deep_idle_after_us),
            deep_idle_exit_ns: figure(|wake| wake.deep_exit_ns, &like.deep_idle_exit_ns),
            time_slice_us: self.measured_or(system::time_slice_us(self.home)?, &like.time_slice_us),
            low_power_exit_ns: self.lent(&like.low_power_exit_ns),
        })
    }
}

/// How far apart two processors of the host are. Their numbers do not tell, as they would in
/// [`Topology::distance`]: Linux numbers them in any order.
fn distance(topology: &Topology, a: &Processor, b: &Processor) -> Distance {
    if a.core == b.core {
        Distance::SameCore
    } else if a.group == b.group {
        Distance::SameGroup
    } else if a.node == b.node {
        Distance::SameNode
    } else if a.socket == b.socket {
        Distance::SameSocket
    } else {
        Distance::Sockets { hops: topology.hops(a.node, b.node) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Host, MeasureError, shape};
    use std::path::Path;

    #[test]
    fn siblings_gain_nothing_where_there_are_none() -> Result<(), MeasureError> {
        let shape = shape(Path::new(crate::SYSTEM))?;
        let like = kilocore_machine::find("xeon-8375c-2s")?;
        let mut host = Host { by: "measured".to_owned(), home: 0, shape, like };
        for (threads, throughput) in [(1, 1.0), (2, host.like.smt_throughput.value)] {
            host.shape.topology.threads_per_core = threads;
            let figure = host.smt_throughput();
            assert_eq!((figure.value, figure.source), (throughput, None));
        }
        Ok(())
    }

    #[test]
    fn what_no_usable_pair_can_tell_is_lent_and_not_scaled_away() -> Result<(), MeasureError> {
        let mut shape = shape(Path::new(crate::SYSTEM))?;
        shape.processors.truncate(1);
        shape.topology.cores_per_group = 2;
        shape.topology.groups_per_node = 1;
        let like = kilocore_machine::find("xeon-8375c-2s")?;
        let host = Host { by: "measured".to_owned(), home: shape.processors[0].cpu, shape, like };
        let latency = host.latencies(2.0)?;
        assert_eq!(latency.same_group_ns.value, 51.0);
        assert!(latency.same_group_ns.source.is_none());
        assert_eq!(
            latency.same_node_ns.value, 51.0,
            "there is no second group: as the nearer level"
        );
        let coherence = host.coherence(&latency, None, None);
        assert_eq!(coherence.line_service_ns.value, host.like.coherence.line_service_ns.value);
        Ok(())
    }
}
