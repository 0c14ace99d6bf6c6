//! Names of events, as perf writes them: `cycles`, `cycles:ppp`, `cpu_core/cycles/P`, `cpu_core/cycles:P/`.

/// Letters that perf takes behind an event's name. They say where and how to count.
const MODIFIERS: &[u8] = b"ukhIGHpPSDWebR";

/// What counts the events of a processor's cores. A hybrid processor has cores of several kinds, and
/// perf counts the same event on each kind apart.
const CORES: [&[u8]; 4] = [b"cpu", b"cpu_core", b"cpu_atom", b"cpu_lowpower"];

/// An event's name without its modifiers and without the kind of core that counted it: `cycles` of
/// `cycles:ppp`, and of `cpu_atom/cycles/P`.
#[must_use]
pub fn plain_event(name: &str) -> &str {
    // What is left out is ASCII, so the rest is text as well.
    str::from_utf8(plain(name.as_bytes())).unwrap_or(name)
}

/// The same of bytes.
pub(crate) fn plain(name: &[u8]) -> &[u8] {
    let name = without_modifiers(name);
    match of_cores(name).map_or(name, without_modifiers) {
        b"cpu-cycles" => b"cycles",
        name => name,
    }
}

fn without_modifiers(name: &[u8]) -> &[u8] {
    match memchr::memrchr(b':', name) {
        Some(colon) if name[colon + 1..].iter().all(|c| MODIFIERS.contains(c)) => &name[..colon],
        _ => name,
    }
}

/// The event of `cpu_core/EVENT,period=7/P`, if it has a name.
fn of_cores(name: &[u8]) -> Option<&[u8]> {
    let mut parts = name.splitn(3, |&byte| byte == b'/');
    let (unit, terms, modifiers) = (parts.next()?, parts.next()?, parts.next()?);
    let event = terms.split(|&byte| byte == b',').next()?;
    let is_name = !event.is_empty() && !event.contains(&b'=');
    let is_plain = modifiers.iter().all(|letter| MODIFIERS.contains(letter));
    (CORES.contains(&unit) && is_name && is_plain).then_some(event)
}

/// Whether only cores of one kind count an event of this name.
pub(crate) fn is_of_one_kind(name: &[u8]) -> bool {
    let unit = name.split(|&byte| byte == b'/').next().unwrap_or(name);
    unit.len() < name.len() && CORES[1..].contains(&unit)
}

/// How well an event stands for time on processors, if nobody says which one to take. Instructions
/// come more often than cycles in fast code, and page faults say nothing of time.
pub(crate) fn like_time(name: &[u8]) -> u8 {
    match plain(name) {
        b"cpu-clock" | b"task-clock" => 3,
        b"cycles" => 2,
        b"ref-cycles" | b"bus-cycles" => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_cores_are_told_from_all_cores() {
        let of_one_kind = |name: &str| is_of_one_kind(name.as_bytes());
        assert!(of_one_kind("cpu_core/cycles/P") && of_one_kind("cpu_atom/cycles:P/"));
        assert!(!["cycles:P", "cpu/cycles/", "cpu_core", ""].into_iter().any(of_one_kind));
    }

    #[test]
    fn modifiers_and_kinds_of_cores_are_not_names() {
        for (name, wanted) in [
            ("cycles", "cycles"),
            ("cycles:", "cycles"),
            ("cycles:uH", "cycles"),
            ("cpu-cycles:u", "cycles"),
            ("cpu-clock:ppp", "cpu-clock"),
            ("cpu/cycles/", "cycles"),
            ("cpu/cycles,period=7/P", "cycles"),
            ("cpu_core/cycles/P", "cycles"),
            ("cpu_atom/cycles/", "cycles"),
            ("cpu_atom/cycles:P/", "cycles"),
            ("cpu_atom/instructions/u", "instructions"),
            ("cpu/event=0x3c,umask=0x0/", "cpu/event=0x3c,umask=0x0/"),
            ("uncore_imc/cas_count_read/", "uncore_imc/cas_count_read/"),
            ("cpu_core/cycles", "cpu_core/cycles"),
            ("sched:sched_switch", "sched:sched_switch"),
            ("sched:sched_switch:u", "sched:sched_switch"),
            ("syscalls:sys_enter_read:u", "syscalls:sys_enter_read"),
            ("ça:é", "ça:é"),
        ] {
            assert_eq!(plain_event(name), wanted);
        }
    }
}
