//! Phases and machines that tests have in common.

use kilocore_machine::Description;
use kilocore_sim::occupancy::{Bytes, Hardware, MissCurve, Phase};

/// Two quad-core Xeons: caches of 4 MB for each two cores, two buses, one controller.
pub(crate) fn machine() -> Description {
    kilocore_machine::find("xeon-e5345-2s").expect("it is built in")
}

pub(crate) fn hardware(threads: u32) -> Hardware {
    Hardware::new(&machine(), threads)
}

/// The same with memory so wide that nobody queues.
pub(crate) fn wide(threads: u32) -> Hardware {
    let mut machine = machine();
    machine.memory.bandwidth_gb_per_s.value = 1e9;
    machine.memory.shared_controller_gb_per_s = None;
    Hardware::new(&machine, threads)
}

/// All of its references miss, whatever it has, six at a time.
pub(crate) fn streamer() -> Phase {
    Phase { overlap: 6.0, ..working_set(0.0, 1.0, 0.05) }
}

/// Its references hit but for a part, once it has so many bytes.
pub(crate) fn working_set(bytes: f64, floor: f64, references: f64) -> Phase {
    let points = if bytes > 0.0 { vec![(0.0, 1.0), (bytes, floor)] } else { vec![(0.0, floor)] };
    Phase {
        cpi: 1.0,
        references,
        curve: MissCurve::new(&points).expect("a curve"),
        overlap: 2.0,
        written_back: 0.0,
        private: Bytes(0.0),
    }
}
