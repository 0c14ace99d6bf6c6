//! The machine that forecasts are for, and on which programs are emulated, if none is named, and what a machine has.

use kilocore_command_line::{CoreList, Failure, say};
use kilocore_machine::{Description, MachineError};

/// The machine of this name, or else the largest known machine with processors by the maker of this
/// host's. Says `what` is done for which that is.
///
/// # Errors
/// If the machine is unknown, or its file cannot be read.
pub(crate) fn or_usual(name: Option<&str>, what: &str) -> Result<Description, MachineError> {
    if let Some(name) = name {
        return kilocore_machine::find(name);
    }
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let machine = kilocore_machine::find(larger_relative(&text))?;
    say(&format!(
        "{what} for {}, the largest known machine with this host's kind of \
         processor; --machine names another (kilocore list machines)",
        machine.name
    ));
    Ok(machine)
}

/// Refuses more cores than a machine has, which it cannot `forecast`, for one.
pub(crate) fn check_cores(
    machine: &Description,
    cores: &CoreList,
    what: &str,
) -> Result<(), Failure> {
    let has = machine.hardware_threads();
    match cores.0.last() {
        Some(&wanted) if wanted > has => Err(Failure::new(format!(
            "{} has {has} hardware threads; cannot {what} {wanted} (choose 1 to {has})",
            machine.name
        ))),
        _ => Ok(()),
    }
}

/// The name of the largest known real machine whose processors come from the maker that a
/// description of this host's names.
fn larger_relative(cpuinfo: &str) -> &'static str {
    // By hardware threads; of two EPYCs that are as large, the newer one.
    if cpuinfo.contains("AuthenticAMD") { "epyc-9554-2s" } else { "xeon-8375c-2s" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_machines_are_the_largest_of_their_makers() {
        for (cpuinfo, maker) in [("vendor_id\t: AuthenticAMD", "epyc"), ("", "xeon")] {
            let usual = larger_relative(cpuinfo);
            let cores = |name: &str| {
                kilocore_machine::find(name).expect("it is built in").hardware_threads()
            };
            let largest = kilocore_machine::builtin()
                .iter()
                .filter(|machine| machine.name.starts_with(maker))
                .map(|machine| cores(machine.name))
                .max();
            assert_eq!(Some(cores(usual)), largest, "{usual}");
        }
    }
}
