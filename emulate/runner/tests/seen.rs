//! What programs see of the machine.

use crate::support::{on, program};

#[test]
fn a_program_sees_the_simulated_machine_and_its_time() {
    for cores in [2, 24] {
        let (point, text) = on(cores, &program("machine", &[]), &[]);
        let words: Vec<&str> = text.split_whitespace().collect();
        let [
            online,
            configured,
            allowed,
            first,
            second,
            slept,
            timed_out,
            waited,
            turned,
            counted,
            _ticks,
        ] = words[..]
        else {
            panic!("{text}")
        };
        for number in [online, configured, allowed] {
            assert_eq!(number, cores.to_string(), "{text}");
        }
        assert!(first.parse::<u32>().is_ok_and(|core| core < cores) && first != second, "{text}");
        let near = |text: &str, seconds: f64| {
            text.parse::<f64>().is_ok_and(|number| (seconds..seconds + 0.01).contains(&number))
        };
        assert!(near(slept, 3.0) && near(waited, 5.0), "{text}");
        assert_eq!((timed_out, turned), ("1", "1"), "{text}");
        assert_eq!(counted, "2.60", "GHz of the machine: {text}");
        assert_eq!(on(cores, &program("machine", &[]), &[]).1, text, "the same counter each time");
        assert!(
            point.took.as_secs() < 8,
            "nine seconds are simulated, not slept: {:?}",
            point.took
        );
    }
}

#[test]
fn a_program_sees_the_nodes_of_the_simulated_machine() {
    // Four sockets of two nodes, six cores in each.
    let (_, text) = on(24, &program("nodes", &[]), &[]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines, ["0-3", "6-11", "none", "0", "6 6 6 6 "], "{text}");
}
