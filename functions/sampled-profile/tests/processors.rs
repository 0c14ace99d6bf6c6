//! Samples of hybrid processors, of idle ones, and of several events.

use crate::common;

use common::{read_bytes, read_with, samples};
use kilocore_sampled_profile::{Options, Remark, Unit};

/// A sample of `perf script`: who ran, of which event, and the functions, the innermost first.
fn sample(who: &str, event: &str, functions: &[&str]) -> String {
    let object = if who.starts_with("swapper") { "[kernel.kallsyms]" } else { "/bin/app" };
    let line = |name: &&str| format!("\t     4010f0 {name}+0x1 ({object})\n");
    let stack: String = functions.iter().map(line).collect();
    format!("{who} [001] 1.000001:     1000 {event}: \n{stack}\n")
}

#[test]
fn the_kinds_of_cores_of_a_hybrid_processor_count_one_event() {
    for [core, atom] in [
        ["cpu_core/cycles/P", "cpu_atom/cycles/P"],
        ["cpu_core/cycles:P/", "cpu_atom/cycles:P/"],
        ["cycles:P", "cpu_atom/cycles/u"],
    ] {
        let of = |event: &str, name| sample("app  7", event, &[name, "main"]);
        let text = of(core, "scan") + &of(atom, "scan") + &of(core, "parse") + &of(atom, "scan");
        let profile = read_bytes(text.as_bytes()).unwrap();
        let counted = samples(&profile);
        assert_eq!((counted["main;scan"], counted["main;parse"]), (3, 1), "{core}");
        assert_eq!(profile.unit, Unit::Events("cycles".to_owned()));
        assert_eq!(profile.facts.event.as_deref(), Some("cycles"));
        assert_eq!(profile.remarks, []);
        // Who asks for one kind of core gets that.
        let options = Options { event: Some(atom.to_owned()), ..Options::default() };
        let profile = read_with(text.as_bytes(), &options).unwrap();
        assert_eq!(profile.total().samples, 2);
        assert_eq!(profile.remarks, [Remark::OtherEvents { left_out: vec![core.to_owned()] }]);
    }
}

#[test]
fn time_is_taken_before_what_comes_more_often() {
    let many = sample("app  7", "instructions:u", &["fast", "main"]).repeat(3);
    let few = sample("app  7", "cycles:u", &["slow", "main"]);
    let clock = sample("app  7", "cpu-clock", &["slower", "main"]);
    let event = |text: String| read_bytes(text.as_bytes()).unwrap().facts.event.unwrap();
    assert_eq!(event(many.clone() + &few), "cycles:u");
    assert_eq!(event(many.clone() + &few.repeat(2) + &clock), "cpu-clock");
    let faults = sample("app  7", "page-faults", &["slow", "main"]);
    assert_eq!(event(many + &faults), "instructions:u");
}

#[test]
fn idle_processors_do_no_work() {
    let idle = ["default_idle", "do_idle", "cpu_startup_entry", "secondary_startup_64"];
    let busy = ["net_rx_action", "asm_common_interrupt", "default_idle", "do_idle"];
    let text = sample("swapper     0", "cycles", &idle).repeat(5)
        + &sample("swapper     0", "cycles", &busy)
        + &sample("app  7", "cycles", &["work", "main"]).repeat(2);
    let profile = read_bytes(text.as_bytes()).unwrap();
    assert_eq!(profile.total().samples, 3);
    assert_eq!(samples(&profile)["main;work"], 2);
    assert_eq!(profile.remarks, [Remark::Idle { samples: 5 }]);
}
