//! Parameters that cannot be, and names.

use kilocore_lab::numa_programs::{
    MOST_THREADS, Program, Size, Workload, barnes, cholesky, mp3d, radix,
};
use kilocore_platform::Native;

fn message(workload: Workload, threads: usize) -> String {
    workload.prepare::<Native>(threads, 1).err().expect("it cannot be").to_string()
}

#[test]
fn numbers_outside_their_ranges_are_refused() {
    let any = Program::Radix.workload(Size::Small);
    assert_eq!(message(any, 0), "threads: 0 is not in the range 1 to 256");
    assert!(message(any, MOST_THREADS + 1).starts_with("threads: 257"));

    let (r, c) = (radix::Parameters::SMALL, cholesky::Parameters::SMALL);
    let (b, m) = (barnes::Parameters::SMALL, mp3d::Parameters::SMALL);
    let wrong = [
        Workload::Radix(radix::Parameters { keys: 0, ..r }),
        Workload::Radix(radix::Parameters { key_bits: 33, ..r }),
        Workload::Radix(radix::Parameters { digit_bits: 0, ..r }),
        Workload::Cholesky(cholesky::Parameters { grid: [3, 0, 3], ..c }),
        Workload::Cholesky(cholesky::Parameters { grid: [64, 64, 64], ..c }),
        Workload::Cholesky(cholesky::Parameters { grid: [usize::MAX, 2, 2], ..c }),
        Workload::Cholesky(cholesky::Parameters { panel: 0, ..c }),
        Workload::Barnes(barnes::Parameters { bodies: 1, ..b }),
        Workload::Barnes(barnes::Parameters { steps: 0, ..b }),
        Workload::Barnes(barnes::Parameters { theta: f64::NAN, ..b }),
        Workload::Barnes(barnes::Parameters { softening: 0.0, ..b }),
        Workload::Mp3d(mp3d::Parameters { particles: 0, ..m }),
        Workload::Mp3d(mp3d::Parameters { cells: [4, 4, 3], ..m }),
        Workload::Mp3d(mp3d::Parameters { cells: [256, 256, 256], ..m }),
        Workload::Mp3d(mp3d::Parameters { steps: 0, ..m }),
    ];
    for workload in wrong {
        assert!(message(workload, 1).contains("is not in the range"), "{workload:?}");
    }
}

#[test]
fn programs_and_sizes_are_found_by_name() {
    for program in Program::ALL {
        assert_eq!(program.to_string().parse(), Ok(program));
        for size in Size::ALL {
            assert_eq!(size.to_string().parse(), Ok(size));
            assert_eq!(program.workload(size).program(), program);
        }
    }
    let unknown = "barns".parse::<Program>().unwrap_err().to_string();
    assert!(unknown.contains("did you mean `barnes`"), "{unknown}");
}
