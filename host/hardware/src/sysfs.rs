//! Reads topology and caches as Linux lists them below `/sys/devices/system`:
//!
//! ```text
//! cpu/online                              0-7,16-23
//! cpu/cpu0/topology/thread_siblings_list  0,16
//! cpu/cpu0/cache/index3/size              32768K
//! cpu/cpu0/cache/index3/shared_cpu_list   0-3,16-19
//! node/node0/distance                     10 21
//! ```
//!
//! The files are looked for below a root path, so recorded machines can be read as well as this
//! one.

use crate::MeasureError;
use kilocore_machine::Topology;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::str::FromStr;

/// The processors and caches of a machine, fitted to the regular shape of [`Topology`].
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// The counts. Where cores are offline or levels uneven, each is the largest there is.
    pub topology: Topology,
    /// Every processor that is online, by Linux' number.
    pub processors: Vec<Processor>,
    /// Size of a cache line in bytes.
    pub line_bytes: u32,
    /// A core's share of its nearest caches, in KiB: the largest below the last level.
    pub private_kib: f64,
    /// A last-level cache's part in one node, in KiB; 0 for none.
    pub shared_kib: f64,
    /// Last-level caches in a node.
    pub shared_per_node: u32,
}

/// Where a processor is. Numbers count over the whole machine from 0, in the order in which they
/// are met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Processor {
    /// The hardware thread's number, as Linux counts.
    pub cpu: u32,
    /// The processor package that it is in.
    pub socket: u32,
    /// The memory node that it belongs to.
    pub node: u32,
    /// The group of cores with a nearer cache in common.
    pub group: u32,
    /// The physical core that it is a hardware thread of.
    pub core: u32,
}

/// What the files say of one processor.
struct Listed {
    package: u32,
    numa_node: u32,
    siblings: BTreeSet<u32>,
    caches: Vec<Cache>,
}

/// A cache that holds data, as one processor sees it.
#[derive(Clone)]
struct Cache {
    level: u32,
    kib: u32,
    line_bytes: u32,
    shared_by: BTreeSet<u32>,
}

/// Reads the machine below `root`, which is `/sys/devices/system` for this host.
///
/// # Errors
/// [`MeasureError::Unreadable`] and [`MeasureError::Malformed`] for the files;
/// [`MeasureError::NoProcessor`] if none is online.
pub fn shape(root: &Path) -> Result<Shape, MeasureError> {
    let online = cpu_list(&root.join("cpu/online"))?;
    let nodes = numa_nodes(root, &online)?;
    let mut listed = BTreeMap::new();
    for &cpu in &online {
        listed.insert(cpu, read_processor(root, cpu, &online, &nodes)?);
    }
    let first = listed.values().next().ok_or(MeasureError::NoProcessor)?;
    let line_bytes = first.caches.first().map_or(64, |cache| cache.line_bytes);
    let last = last_level(first);
    let groups_by = grouping_level(&listed, last);
    let processors = place(&listed, groups_by);
    let topology = fit(&processors, root, &nodes)?;
    let (private_kib, shared_kib) = capacities(first, last, &processors);
    let shared_per_node =
        if last.is_some() && groups_by == last { topology.groups_per_node } else { 1 };
    Ok(Shape { topology, processors, line_bytes, private_kib, shared_kib, shared_per_node })
}

fn read(path: &Path) -> Result<String, MeasureError> {
    std::fs::read_to_string(path).map(|text| text.trim().to_owned()).map_err(|error| {
        MeasureError::Unreadable { path: path.display().to_string(), reason: error.to_string() }
    })
}

fn malformed(path: &Path, text: &str, expected: &'static str) -> MeasureError {
    MeasureError::Malformed { path: path.display().to_string(), text: text.to_owned(), expected }
}

fn read_number<N: FromStr>(path: &Path) -> Result<N, MeasureError> {
    let text = read(path)?;
    text.parse().map_err(|_| malformed(path, &text, "a number"))
}

/// Reads a list such as `0-3,8,10-11`; an empty one is an empty set.
fn cpu_list(path: &Path) -> Result<BTreeSet<u32>, MeasureError> {
    let text = read(path)?;
    let cpus = kilocore_platform::cpu_list(&text)
        .ok_or_else(|| malformed(path, &text, "a list of processors such as 0-3,8"))?;
    Ok(cpus.map(|cpu| cpu.0).collect())
}

/// Returns the NUMA nodes that have processors. A kernel without NUMA has one node with all of
/// them.
fn numa_nodes(
    root: &Path,
    online: &BTreeSet<u32>,
) -> Result<BTreeMap<u32, BTreeSet<u32>>, MeasureError> {
    let list = root.join("node/online");
    if !list.exists() {
        return Ok(BTreeMap::from([(0, online.clone())]));
    }
    let mut nodes = BTreeMap::new();
    for node in cpu_list(&list)? {
        let cpus = cpu_list(&root.join(format!("node/node{node}/cpulist")))?;
        if !cpus.is_empty() {
            nodes.insert(node, cpus);
        }
    }
    Ok(nodes)
}

fn read_processor(
    root: &Path,
    cpu: u32,
    online: &BTreeSet<u32>,
    nodes: &BTreeMap<u32, BTreeSet<u32>>,
) -> Result<Listed, MeasureError> {
    let base = root.join(format!("cpu/cpu{cpu}"));
    // A package without a number reads -1.
    let package: i64 = read_number(&base.join("topology/physical_package_id"))?;
    let mut siblings = cpu_list(&base.join("topology/thread_siblings_list"))?;
    siblings.retain(|sibling| online.contains(sibling));
    siblings.insert(cpu);
    let numa_node = nodes.iter().find(|(_, cpus)| cpus.contains(&cpu)).map_or(0, |(node, _)| *node);
    let mut caches = Vec::new();
    for index in 0.. {
        let cache = base.join(format!("cache/index{index}"));
        if !cache.exists() {
            break;
        }
        if read(&cache.join("type"))? == "Instruction" {
            continue;
        }
        let mut shared_by = cpu_list(&cache.join("shared_cpu_list"))?;
        shared_by.retain(|sharer| online.contains(sharer));
        shared_by.insert(cpu);
        caches.push(Cache {
            level: read_number(&cache.join("level"))?,
            kib: kib(&cache.join("size"))?,
            line_bytes: read_number(&cache.join("coherency_line_size"))?,
            shared_by,
        });
    }
    caches.sort_by_key(|cache| cache.level);
    Ok(Listed { package: u32::try_from(package).unwrap_or(0), numa_node, siblings, caches })
}

/// Reads a size such as `2048K`.
fn kib(path: &Path) -> Result<u32, MeasureError> {
    let text = read(path)?;
    let size = match text.strip_suffix('M') {
        Some(mib) => mib.parse::<u32>().ok().and_then(|mib| mib.checked_mul(1024)),
        None => text.strip_suffix('K').and_then(|kib| kib.parse().ok()),
    };
    size.ok_or_else(|| malformed(path, &text, "a size such as 2048K"))
}

/// Returns the level of the last-level cache. Level 3 or beyond counts even if a virtual machine
/// shows it to one core only. A nearer level counts only if cores share it.
fn last_level(of: &Listed) -> Option<u32> {
    let last = of.caches.last()?;
    let is_shared = last.level >= 3 || last.shared_by.len() > of.siblings.len();
    is_shared.then_some(last.level)
}

fn cache_at(of: &Listed, level: u32) -> Option<&Cache> {
    of.caches.iter().find(|cache| cache.level == level)
}

/// Returns the cache level that makes the groups: the farthest one that divides a node into several
/// domains of several cores each.
fn grouping_level(listed: &BTreeMap<u32, Listed>, last: Option<u32>) -> Option<u32> {
    let last = last?;
    (2..=last).rev().find(|&level| {
        listed.values().any(|of| {
            let Some(cache) = cache_at(of, level) else { return false };
            let beyond_core = cache.shared_by.len() > of.siblings.len() || level == last;
            let divides = listed.iter().any(|(cpu, other)| {
                other.numa_node == of.numa_node
                    && other.package == of.package
                    && !cache.shared_by.contains(cpu)
            });
            beyond_core && divides
        })
    })
}

/// Numbers packages, nodes, groups and cores as they come, walking from the outside inwards.
fn place(listed: &BTreeMap<u32, Listed>, groups_by: Option<u32>) -> Vec<Processor> {
    let group_of = |of: &Listed| -> u32 {
        let cache = groups_by.and_then(|level| cache_at(of, level));
        cache.and_then(|cache| cache.shared_by.first().copied()).unwrap_or(0)
    };
    // The key of each level contains the outer ones. So a unit that crosses a boundary of an outer
    // one is cut there.
    let key = |of: &Listed| {
        let core = of.siblings.first().copied().unwrap_or(0);
        (of.package, of.numa_node, group_of(of), core)
    };
    let keys: BTreeSet<_> = listed.values().map(key).collect();
    let mut number = [BTreeMap::new(), BTreeMap::new(), BTreeMap::new(), BTreeMap::new()];
    for &(package, node, group, core) in &keys {
        for (map, key) in number.iter_mut().zip([
            (package, 0, 0, 0),
            (package, node, 0, 0),
            (package, node, group, 0),
            (package, node, group, core),
        ]) {
            let next = u32::try_from(map.len()).unwrap_or(u32::MAX);
            map.entry(key).or_insert(next);
        }
    }
    listed
        .iter()
        .map(|(&cpu, of)| {
            let (package, node, group, core) = key(of);
            Processor {
                cpu,
                socket: number[0][&(package, 0, 0, 0)],
                node: number[1][&(package, node, 0, 0)],
                group: number[2][&(package, node, group, 0)],
                core: number[3][&(package, node, group, core)],
            }
        })
        .collect()
}

/// Returns how many members the largest unit has. A pair is (unit, member).
fn most(pairs: impl Iterator<Item = (u32, u32)>) -> u32 {
    let mut members: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for (unit, member) in pairs {
        members.entry(unit).or_default().insert(member);
    }
    let most = members.values().map(BTreeSet::len).max().unwrap_or(1);
    u32::try_from(most).unwrap_or(u32::MAX)
}

fn fit(
    processors: &[Processor],
    root: &Path,
    nodes: &BTreeMap<u32, BTreeSet<u32>>,
) -> Result<Topology, MeasureError> {
    let all = || processors.iter();
    let mut topology = Topology {
        sockets: most(all().map(|p| (0, p.socket))),
        nodes_per_socket: most(all().map(|p| (p.socket, p.node))),
        groups_per_node: most(all().map(|p| (p.node, p.group))),
        cores_per_group: most(all().map(|p| (p.group, p.core))),
        threads_per_core: most(all().map(|p| (p.core, p.cpu))),
        hops: Vec::new(),
        source: String::new(),
    };
    let fitted = [
        topology.sockets,
        topology.nodes_per_socket,
        topology.groups_per_node,
        topology.cores_per_group,
        topology.threads_per_core,
    ]
    .iter()
    .map(|&count| u64::from(count))
    .product::<u64>();
    topology.source = format!(
        "{} processors online, as Linux lists them in /sys/devices/system",
        processors.len()
    );
    if fitted == processors.len() as u64 {
        topology.hops = hops(processors, root, nodes)?;
    } else {
        topology.source +=
            "; some are offline or levels uneven, so that each count is the largest of its level";
    }
    Ok(topology)
}

/// Returns the hops between sockets, from the firmware's distances. In these, 10 is a node's
/// distance to itself, and the least distance between sockets is one hop. The result is empty if
/// all sockets are a hop apart, or if the kernel lists no distances.
fn hops(
    processors: &[Processor],
    root: &Path,
    nodes: &BTreeMap<u32, BTreeSet<u32>>,
) -> Result<Vec<Vec<u32>>, MeasureError> {
    let list = root.join("node/online");
    if !list.exists() {
        return Ok(Vec::new());
    }
    let columns: Vec<u32> = cpu_list(&list)?.into_iter().collect();
    // The kernel's node, and the socket, of each of our nodes.
    let ours: BTreeMap<u32, (u32, u32)> = processors
        .iter()
        .map(|p| {
            let theirs =
                nodes.iter().find(|(_, cpus)| cpus.contains(&p.cpu)).map_or(0, |(n, _)| *n);
            (p.node, (theirs, p.socket))
        })
        .collect();
    let mut distance = BTreeMap::new();
    for &(theirs, _) in ours.values() {
        let path = root.join(format!("node/node{theirs}/distance"));
        let text = read(&path)?;
        let row: Option<Vec<u32>> = text.split_whitespace().map(|cell| cell.parse().ok()).collect();
        let row = row
            .filter(|row| row.len() == columns.len())
            .ok_or_else(|| malformed(&path, &text, "a distance for each node"))?;
        distance.extend(columns.iter().zip(row).map(|(&column, far)| ((theirs, column), far)));
    }
    let far = |a: u32, b: u32| distance.get(&(ours[&a].0, ours[&b].0)).copied().unwrap_or(10);
    let pairs = || ours.keys().flat_map(|&a| ours.keys().map(move |&b| (a, b)));
    let hop = pairs()
        .filter(|(a, b)| ours[a].1 != ours[b].1)
        .map(|(a, b)| far(a, b).saturating_sub(10))
        .filter(|&above| above > 0)
        .min();
    let Some(hop) = hop else { return Ok(Vec::new()) };
    let links = |a: u32, b: u32| {
        if a == b {
            0
        } else if ours[&a].1 == ours[&b].1 {
            1
        } else {
            // The firmware's distances need not be symmetric. Those of a machine file are.
            let above = far(a, b).max(far(b, a)).saturating_sub(10);
            ((above + hop / 2) / hop).clamp(1, kilocore_machine::MOST_HOPS)
        }
    };
    if pairs().all(|(a, b)| a == b || links(a, b) == 1) {
        return Ok(Vec::new());
    }
    Ok(ours.keys().map(|&a| ours.keys().map(|&b| links(a, b)).collect()).collect())
}

/// The private and the shared capacity that falls to one core and to one node, in KiB.
fn capacities(of: &Listed, last: Option<u32>, processors: &[Processor]) -> (f64, f64) {
    let counted = |cache: &Cache, by: fn(&Processor) -> u32| -> f64 {
        let units: BTreeSet<u32> =
            processors.iter().filter(|p| cache.shared_by.contains(&p.cpu)).map(by).collect();
        f64::from(cache.kib) / f64::from(u32::try_from(units.len().max(1)).unwrap_or(u32::MAX))
    };
    let private = of.caches.iter().rfind(|cache| Some(cache.level) != last);
    let private_kib = private.map_or(32.0, |cache| counted(cache, |p| p.core));
    let shared = last.and_then(|level| cache_at(of, level));
    (private_kib, shared.map_or(0.0, |cache| counted(cache, |p| p.node)))
}
