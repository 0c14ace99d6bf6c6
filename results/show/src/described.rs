//! Every figure of a machine file, in words, with where it comes from.

use crate::{FigureGroup, FigureRow, Machine, Mark, Provenance, number};
use kilocore_machine::{Description, Figure, Topology};

/// Returns what is inside what, in a line: `4 sockets × 2 nodes × 3 groups × 2 cores`.
#[must_use]
pub fn topology_line(topology: &Topology) -> String {
    let levels = [
        (topology.sockets, "socket"),
        (topology.nodes_per_socket, "node"),
        (topology.groups_per_node, "group"),
        (topology.cores_per_group, "core"),
        (topology.threads_per_core, "thread"),
    ];
    let counted = levels.iter().filter(|(count, level)| *count > 1 || *level == "core");
    let words: Vec<String> = counted
        .map(|(count, level)| format!("{count} {level}{}", if *count == 1 { "" } else { "s" }))
        .collect();
    words.join(" × ")
}

/// A figure of the machine file under a name, in a unit.
fn row(name: &'static str, figure: &Figure, unit: &str) -> FigureRow {
    let mark = match (&figure.source, &figure.estimated) {
        (Some(source), _) => sourced(source),
        (None, Some(reason)) => Mark::new(Provenance::Estimated, reason),
        (None, None) => Mark::new(Provenance::Estimated, "no reason given"),
    };
    FigureRow { name, value: format!("{} {unit}", number::plain(figure.value)), mark }
}

/// The mark of a figure that was taken from somewhere.
fn sourced(source: &str) -> Mark {
    // What `kilocore record machine` writes begins so.
    let measured = source.to_lowercase().starts_with("measured");
    Mark::new(if measured { Provenance::Measured } else { Provenance::Published }, source)
}

/// Returns the machine of a file, as it is shown.
#[must_use]
pub fn described(machine: &Description) -> Machine {
    Machine { name: machine.name.clone(), title: machine.title.clone(), groups: groups(machine) }
}

/// All figures of a machine file.
fn groups(machine: &Description) -> Vec<FigureGroup> {
    let Description { latency, coherence, caches, memory, os, power, .. } = machine;
    let topology = FigureRow {
        name: "what is inside what",
        value: topology_line(&machine.topology),
        mark: sourced(&machine.topology.source),
    };
    let group = |title, rows| FigureGroup { title, rows };
    // Figures that a file may leave to an estimate.
    let optional = [
        ("last-level cache has what the cores' own have", &caches.shared_holds_private, ""),
        ("line of a block in the core's own cache", &caches.own_line_cycles, "cycles"),
        ("lines of a block on their way at a time", &caches.lines_under_way, ""),
        ("bandwidth of all nodes together", &memory.shared_controller_gb_per_s, "GB/s"),
    ];
    let optional = optional
        .into_iter()
        .filter_map(|(name, figure, unit)| figure.as_ref().map(|figure| row(name, figure, unit)));
    vec![
        group(
            "Processor",
            vec![
                topology,
                row("clock under load", &machine.clock_ghz, "GHz"),
                row("all threads of a core against one", &machine.smt_throughput, "×"),
            ],
        ),
        group(
            "Transfer of a line that another core has just written",
            vec![
                row("between threads of a core", &latency.same_core_ns, "ns"),
                row("between cores of a group", &latency.same_group_ns, "ns"),
                row("between groups of a node", &latency.same_node_ns, "ns"),
                row("between nodes of a socket", &latency.same_socket_ns, "ns"),
                row("between sockets, one hop", &latency.other_socket_ns, "ns"),
                row("each further hop", &latency.per_hop_ns, "ns"),
            ],
        ),
        group(
            "Coherence",
            vec![
                row("line busy for each request", &coherence.line_service_ns, "ns"),
                row("each sharer invalidated", &coherence.invalidate_per_sharer_ns, "ns"),
                row("directory busy for each request", &coherence.home_service_ns, "ns"),
                row("atomic read-modify-write", &coherence.rmw_cycles, "cycles"),
                row("turn of a spin loop", &coherence.pause_cycles, "cycles"),
            ]
            .into_iter()
            .chain(coherence.write_hold_ns.as_ref().map(|ns| row("written line kept", ns, "ns")))
            .chain(
                coherence
                    .migratory_sharing
                    .as_ref()
                    .map(|takes| row("reads take what was written", takes, "")),
            )
            .collect(),
        ),
        group(
            "Caches and memory",
            vec![
                row("hit in the nearest cache", &caches.hit_cycles, "cycles"),
                row("cache of a core's own", &caches.private_kib, "KiB"),
                row("last-level cache of a domain", &caches.shared_kib, "KiB"),
                row("hit in the last-level cache", &caches.shared_hit_ns, "ns"),
                row("last-level cache finds copies", &caches.shared_finds_copies, ""),
                row("the node's own memory", &memory.local_ns, "ns"),
                row("another node's memory", &memory.remote_ns, "ns"),
                row("bandwidth of a node", &memory.bandwidth_gb_per_s, "GB/s"),
            ]
            .into_iter()
            .chain(optional)
            .collect(),
        ),
        group(
            "Operating system",
            vec![
                row("switch between threads", &os.context_switch_ns, "ns"),
                row("futex call that need not wait", &os.futex_call_ns, "ns"),
                row("waking a thread", &os.wake_ns, "ns"),
                row("until the woken thread runs", &os.wake_latency_ns, "ns"),
                row("deeper idle state after", &os.deep_idle_after_us, "µs"),
                row("way out of a deeper idle state", &os.deep_idle_exit_ns, "ns"),
                row("queued kernel locks", &os.queued_kernel_locks, ""),
                row("time slice", &os.time_slice_us, "µs"),
                row("leaving a low-power wait", &os.low_power_exit_ns, "ns"),
            ]
            .into_iter()
            .chain(os.mapping_locks.as_ref().map(|locks| row("locks of mappings", locks, "")))
            .chain(os.page_fault_ns.as_ref().map(|ns| row("first touch of a page", ns, "ns")))
            .chain(os.file_page_ns.as_ref().map(|ns| row("one more page of a file", ns, "ns")))
            .chain(os.unmap_page_ns.as_ref().map(|ns| row("giving a page back", ns, "ns")))
            .chain(os.interrupt_every_us.as_ref().map(|us| row("an interrupt every", us, "µs")))
            .chain(os.interrupt_ns.as_ref().map(|ns| row("an interrupt", ns, "ns")))
            .chain(os.idle_entry_ns.as_ref().map(|ns| row("until a core is idle", ns, "ns")))
            .chain(os.idle_return_ns.as_ref().map(|ns| row("back from going idle", ns, "ns")))
            .chain(os.requeued_broadcasts.as_ref().map(|has| row("requeued broadcasts", has, "")))
            .collect(),
        ),
        group(
            "Power",
            vec![
                row("core that computes", &power.active_w, "W"),
                row("core that spins", &power.spin_w, "W"),
                row("core in a low-power wait", &power.low_power_w, "W"),
                row("idle core", &power.idle_w, "W"),
                row("rest of a socket", &power.socket_w, "W"),
            ],
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::groups;

    /// Figures anywhere in a document.
    fn figures(value: &serde_json::Value) -> usize {
        match value {
            serde_json::Value::Object(fields) if fields.contains_key("value") => 1,
            serde_json::Value::Object(fields) => fields.values().map(figures).sum(),
            _ => 0,
        }
    }

    #[test]
    fn no_figure_of_a_machine_file_is_left_out() {
        for machine in kilocore_machine::builtin() {
            let machine = machine.description().unwrap();
            let shown: usize = groups(&machine).iter().map(|group| group.rows.len()).sum();
            let topology = 1;
            assert_eq!(shown - topology, figures(&serde_json::to_value(&machine).unwrap()));
        }
    }
}
