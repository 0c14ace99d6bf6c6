//! Hit ratios on short traces.

use kilocore_comparisons::hit_ratios::contender::Contender;
use kilocore_comparisons::hit_ratios::exact::ExactLru;
use kilocore_comparisons::hit_ratios::page::SEED;
use kilocore_comparisons::hit_ratios::trace::{Kind, PageNumber, Trace};
use kilocore_lru::Policy;

/// The fewest pages for which the lists promise anything.
const CAPACITY: u32 = 1_000;
const USES: u32 = 200_000;

fn ratio(kind: Kind, contender: Contender) -> f64 {
    contender.hit_ratio(CAPACITY, Trace::new(kind, CAPACITY, USES, SEED))
}

/// The bar, in percentage points.
#[test]
fn stripes_are_at_most_half_a_point_below_exact_lru() {
    // One list has the same trouble with working sets as many.
    for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::WorkingSets) {
        let exact = ratio(kind, Contender::Exact);
        for factor in [1, 7, 64, 256] {
            for policy in [Policy::BALANCED, Policy::RESISTANT, Policy::LAZY] {
                let striped = ratio(kind, Contender::Striped(factor, policy));
                assert!(
                    striped >= exact - 0.5,
                    "{kind:?}, factor {factor}, {policy:?}: {striped}, and exact LRU {exact}"
                );
            }
        }
    }
}

#[test]
fn what_is_read_once_does_not_push_out_the_rest() {
    let exact = ratio(Kind::Scans, Contender::Exact);
    for factor in [1, 256] {
        let striped = ratio(Kind::Scans, Contender::Striped(factor, Policy::RESISTANT));
        assert!(striped > exact + 5.0, "factor {factor}: {striped}, and exact LRU {exact}");
    }
}

/// A set larger than the inactive list is never used twice while it is there.
#[test]
fn a_working_set_that_returns_is_kept() {
    let exact = ratio(Kind::WorkingSets, Contender::Exact);
    for factor in [1, 256] {
        let [without, with] = [Policy::BALANCED, Policy::RESISTANT]
            .map(|policy| ratio(Kind::WorkingSets, Contender::Striped(factor, policy)));
        assert!(without < exact - 50.0, "factor {factor}: {without}, and exact LRU {exact}");
        assert!(with > exact - 5.0, "factor {factor}: {with}, and exact LRU {exact}");
    }
}

/// With the oldest tail, the number of stripes hardly matters.
#[test]
fn many_stripes_are_as_good_as_one() {
    for kind in Kind::ALL {
        let one = ratio(kind, Contender::Striped(1, Policy::BALANCED));
        let many = ratio(kind, Contender::Striped(256, Policy::BALANCED));
        assert!((one - many).abs() < 0.3, "{kind:?}: {one} and {many}");
    }
}

#[test]
fn a_seed_determines_all() {
    for contender in [
        Contender::Striped(256, Policy::PLAIN),
        Contender::Striped(256, Policy::LAZY),
        Contender::S3Fifo,
        Contender::MultiGeneration,
    ] {
        let twice = [(); 2].map(|()| ratio(Kind::Scans, contender));
        assert!((twice[0] - twice[1]).abs() < f64::EPSILON, "{contender:?}: {twice:?}");
    }
}

/// A vector in the order of use is as slow as it is obvious.
#[test]
fn exact_lru_is_exact() {
    let capacity = 50;
    let mut cache = ExactLru::new(capacity, 100_000);
    let mut order: Vec<PageNumber> = Vec::new();
    for page in Trace::new(Kind::Scans, capacity, 20_000, SEED) {
        let known = order.iter().position(|other| *other == page);
        assert_eq!(cache.access(page), known.is_some(), "{page:?}");
        match known {
            Some(place) => drop(order.remove(place)),
            None if order.len() == capacity as usize => drop(order.remove(0)),
            None => {}
        }
        order.push(page);
    }
}
