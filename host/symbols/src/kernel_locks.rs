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
];

/// Whether a function of the kernel acquires or releases one of the kernel's locks.
///
/// ```
/// use kilocore_symbols::is_kernel_lock;
///
/// assert!(is_kernel_lock("__mutex_lock.constprop.0"));
/// assert!(is_kernel_lock("_raw_spin_lock_irqsave"));
/// assert!(!is_kernel_lock("vm_mmap_pgoff"));
/// ```
#[must_use]
pub fn is_kernel_lock(function: &str) -> bool {
    let name = function.strip_prefix("__").unwrap_or(function);
    NAMES.iter().any(|known| match known.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == *known,
    })
}
