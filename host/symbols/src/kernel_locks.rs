//! The functions of the kernel's locks, by their names.

/// What their names are, or begin with if a star is at the end. Underscores in front do not count.
const NAMES: &[&str] = &[
    "native_queued_spin_lock_slowpath",
    "queued_spin_lock_slowpath",
    "queued_read_lock_slowpath",
    "queued_write_lock_slowpath",
    "pv_queued_spin_lock_slowpath",
    "_raw_spin_*",
    "_raw_read_*",
    "_raw_write_*",
    "osq_lock*",
    "rwsem_*",
    "down_read*",
    "down_write*",
    "mutex_lock*",
    "mutex_spin_on_owner*",
    "mutex_optimistic_spin*",
    "rt_mutex_*",
    "lock_page*",
    "folio_lock*",
    "percpu_down_*",
    "ticket_spin_lock*",
    // Those of a kernel with Kilocore in it (the folder `linux`).
    "spin_lock_requester_*",
    "kilocore_spin_lock_*",
];

/// A crate whose functions are those of locks in such a kernel, as it stands in their symbols.
const CRATE: &str = "kilocore_locks";

/// What functions that report that a wait for a lock begins begin with.
const REPORTS: &[&str] =
    &["__traceiter_", "trace_contention", "perf_trace_", "perf_tp_", "__bpf_trace_"];

/// Whether a function of the kernel reports that a wait for one of its locks begins: such functions are the
/// innermost ones of the stack where it does.
///
/// ```
/// use kilocore_symbols::is_kernel_lock_report;
///
/// assert!(is_kernel_lock_report("__traceiter_contention_begin"));
/// assert!(!is_kernel_lock_report("__mutex_lock.constprop.0"));
/// ```
#[must_use]
pub fn is_kernel_lock_report(function: &str) -> bool {
    REPORTS.iter().any(|start| function.starts_with(start))
}

/// Whether a function of the kernel acquires or releases one of the kernel's locks.
///
/// ```
/// use kilocore_symbols::is_kernel_lock;
///
/// assert!(is_kernel_lock("__mutex_lock.constprop.0"));
/// assert!(is_kernel_lock("_raw_spin_lock_irqsave"));
/// assert!(is_kernel_lock("spin_lock_requester_slowpath"));
/// assert!(!is_kernel_lock("vm_mmap_pgoff"));
/// ```
#[must_use]
pub fn is_kernel_lock(function: &str) -> bool {
    let name = function.strip_prefix("__").unwrap_or(function);
    NAMES.iter().any(|known| match known.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == *known,
    }) || name.contains(CRATE)
}
