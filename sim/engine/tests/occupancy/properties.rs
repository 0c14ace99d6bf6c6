//! What holds for all phases, in any order.

use kilocore_sim::occupancy::{Bytes, MissCurve, Model, Phase, settled};
use proptest::prelude::*;

use crate::occupancy::made::hardware;

fn phases() -> impl Strategy<Value = Phase> {
    (0.3..3.0, 0.0..0.1, 0.0..8e6, 0.0..1.0, 1.0..8.0, 0.0..1.0, 0.0..32768.0).prop_map(
        |(cpi, references, set, floor, overlap, written_back, private)| Phase {
            cpi,
            references,
            curve: MissCurve::new(&[(0.0, 1.0), (set + 1.0, floor)]).expect("a curve"),
            overlap,
            written_back,
            private: Bytes(private),
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn caches_and_channels_never_have_more_than_fits(
        of in prop::collection::vec(phases(), 12),
        steps in prop::collection::vec((0..8_usize, 0..12_usize, 1e3..1e7, any::<bool>()), 1..120),
    ) {
        let mut model = Model::new(hardware(8));
        let limit = 8.86 / 2.33;
        for (thread, task, instructions, stops) in steps {
            let done = model.execute(thread, task, &of[task], instructions);
            prop_assert!((done.instructions - instructions).abs() < 1e-6 * instructions);
            prop_assert!(done.cycles >= of[task].cpi * instructions * (1.0 - 1e-9));
            prop_assert!(done.misses <= done.references * (1.0 + 1e-9));
            prop_assert!(model.traffic() <= limit * (1.0 + 1e-5), "{}", model.traffic());
            for cache in 0..4 {
                let cache = model.cache(cache);
                let has: f64 = (0..12).map(|task| cache.has(task).0).sum();
                prop_assert!((0..12).all(|task| cache.has(task).0 >= 0.0));
                prop_assert!(has <= cache.capacity().0 * (1.0 + 1e-9));
                prop_assert!((has - cache.used().0).abs() <= 1e-6 * cache.capacity().0);
            }
            if stops {
                model.stop(thread);
            }
        }
    }

    #[test]
    fn company_makes_nobody_faster(one in phases(), other in phases()) {
        let hardware = hardware(2);
        let alone = settled(&hardware, &[(0, &one)])[0];
        let beside = settled(&hardware, &[(0, &one), (1, &other)])[0];
        prop_assert!(beside <= alone * 1.01, "{beside} beside, {alone} alone");
        prop_assert!(alone <= 1.0 / one.cpi * (1.0 + 1e-9));
    }
}
