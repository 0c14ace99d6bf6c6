//! What an emulated program reports, and a run that is kept: what is accepted is written and accepted again, and its
//! files are looked for. A digest is found by no chance, so runs are made here of the reports.
#![no_main]

use std::time::{Duration, UNIX_EPOCH};

use kilocore_emulation::KeptRun;
use kilocore_emulation_orders::{MovedLine, Report, SeenFile};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    assert!(KeptRun::read(bytes).is_none(), "a digest was found");
    let Ok(report) = Report::read(bytes) else { return };
    assert_eq!(
        Report::read(&report.to_bytes()).expect("what was accepted is accepted again"),
        report
    );
    let _ = report.lines.iter().filter_map(MovedLine::sharing).count();
    let _ = report.dependence.files.iter().filter(|seen| SeenFile::is_so(seen)).count();
    let time = Duration::from_secs(bytes.len() as u64);
    let kept =
        KeptRun { question: [7; 32], ended: UNIX_EPOCH + time, took: time, computed: time, report };
    assert_eq!(KeptRun::read(&kept.to_bytes()), Some(kept));
});
