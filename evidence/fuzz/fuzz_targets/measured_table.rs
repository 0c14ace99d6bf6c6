//! Tables of measured throughputs, in whatever form people write them: what is accepted is sound, and is
//! accepted again as the JSON of a comparison.
#![no_main]

use kilocore_forecast::fit::{Comparison, MeasuredTable};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = MeasuredTable::is_likely(&String::from_utf8_lossy(bytes));
    let Ok(table) = MeasuredTable::parse(bytes) else { return };
    assert!(!table.variants.is_empty());
    for variant in &table.variants {
        assert!(
            variant.points.is_sorted_by(|a, b| a.cores < b.cores) && !variant.points.is_empty()
        );
        assert!(variant.points.iter().all(|p| p.throughput > 0.0 && p.throughput.is_finite()));
    }
    let _ = table.measurements();
    let Ok(comparison) = Comparison::new(&table, &[1, 64]) else { return };
    let written = serde_json::to_vec(&comparison).expect("it is written");
    let again = MeasuredTable::parse(&written).expect("what was accepted is accepted again");
    assert_eq!(again.variants.len(), table.variants.len());
    for (again, variant) in again.variants.iter().zip(&table.variants) {
        assert_eq!((&again.name, again.lock), (&variant.name, variant.lock));
        for (again, point) in again.points.iter().zip(&variant.points) {
            assert_eq!(again.cores, point.cores);
            assert!((again.throughput / point.throughput - 1.0).abs() < 1e-9);
        }
    }
});
