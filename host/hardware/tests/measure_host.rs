//! Measuring the host that runs the tests: whatever it is, a valid machine must come out, or a
//! word about why it cannot.
//!
//! No time is bounded and no two measured figures are compared: the tests must hold on a host that
//! is starved by others, where any figure may be far off. What is checked is that every figure
//! says rightly whether it was measured, and that the file can be read again.
#![cfg(target_os = "linux")]

use kilocore_hardware::{MeasureError, core_to_core_ns, host_core_to_core, measure_host};
use kilocore_machine::{Description, MachineError};

#[test]
fn this_host_becomes_a_machine() {
    let host = match measure_host() {
        Ok(host) => host,
        // A starved host may be too busy to exchange a line even once, or take longer for
        // something than any machine does. It says so and names the figure; there is no file.
        Err(MeasureError::Busy { a, b }) => return assert_ne!(a, b),
        Err(MeasureError::Absurd(MachineError::Field { key, .. })) => {
            let section = key.split('.').next().unwrap_or_default();
            assert!(["latency", "coherence", "caches", "memory", "os"].contains(&section), "{key}");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    let text = host.to_toml();
    println!("{text}");
    assert_eq!(Description::parse(&text, "host.toml"), Ok(host.clone()));
    let measured = [&host.caches.hit_cycles, &host.memory.local_ns, &host.os.futex_call_ns];
    assert!(measured.iter().all(|figure| figure.source.is_some()), "{measured:?}");
    let lent = [&host.smt_throughput, &host.coherence.line_service_ns, &host.power.active_w];
    assert!(lent.iter().all(|figure| figure.estimated.is_some()), "{lent:?}");
    #[cfg(target_arch = "x86_64")]
    for figure in [&host.clock_ghz, &host.coherence.rmw_cycles, &host.coherence.pause_cycles] {
        assert!(figure.source.is_some(), "{figure:?}");
    }
}

#[test]
fn the_quick_latency_is_a_time_if_there_is_one() {
    if let Some(ns) = host_core_to_core() {
        assert!(ns.is_finite() && ns > 0.0, "{ns} ns from core to core");
    }
}

#[test]
fn a_processor_has_no_latency_to_itself_or_to_one_that_is_not_there() {
    assert!(core_to_core_ns(0, 0).is_err());
    let error = core_to_core_ns(100_000, 0).unwrap_err().to_string();
    assert!(error.contains("processor 100000"), "{error}");
}
