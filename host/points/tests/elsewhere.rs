//! Points that several processes divide among themselves.

use std::collections::BTreeSet;

use kilocore_points::{Elsewhere, FailedPoint, Key, PointSource, Report};

use crate::squares::{Factor, NoSquare, Square, ask, folder, jobs};

#[test]
fn what_is_missing_is_listed_once_and_not_computed() {
    let (_held, folder) = folder();
    let factor = Factor::new(2.0);
    ask(&PointSource::kept_in(&folder).unwrap(), &factor, &jobs(2)).unwrap();
    assert_eq!(factor.computed.take(), 2);
    let listing = PointSource::kept_in(&folder).unwrap().listing();
    assert!(ask(&listing, &factor, &jobs(2)).is_ok(), "nothing is missing");
    assert_eq!(listing.missing(), []);
    for _ in 0..2 {
        assert_eq!(ask(&listing, &factor, &jobs(4)).unwrap_err(), NoSquare::Elsewhere(Elsewhere));
    }
    assert_eq!(listing.point(&factor, &Square(9.0)).unwrap_err(), NoSquare::Elsewhere(Elsewhere));
    let missing = listing.missing();
    let words: Vec<&str> = missing.iter().map(|missing| missing.words.as_str()).collect();
    assert_eq!(words, ["9", "4", "3"].map(|number| format!("2 times: the square of {number}")));
    assert_eq!(missing.iter().map(|missing| missing.cost).collect::<Vec<_>>(), [9.0, 4.0, 3.0]);
    assert!(missing.iter().all(|missing| missing.computation == "square"));
    assert_eq!(factor.computed.take(), 0);
    assert_eq!(listing.report(), Report { missing, ..Report::default() });
}

#[test]
fn shares_of_what_is_missing_are_the_whole() {
    let (_held, folder) = folder();
    let factor = Factor::new(2.0);
    let kept = || PointSource::kept_in(&folder).unwrap();
    let listing = kept().listing();
    ask(&listing, &factor, &jobs(9)).unwrap_err();
    let keys: Vec<Key> = listing.missing().iter().map(|missing| missing.key).collect();
    assert_eq!(keys.len(), 9);
    for share in keys.chunks(3) {
        let share: BTreeSet<Key> = share.iter().copied().collect();
        let sharing = kept().sharing(share.clone());
        let error = ask(&sharing, &factor, &jobs(9)).err();
        assert_eq!(factor.computed.take(), 3);
        let kept_now = |sharing: &PointSource| -> BTreeSet<Key> {
            sharing.report().kept.iter().map(|point| point.key).collect()
        };
        assert_eq!(kept_now(&sharing), share);
        assert!(sharing.report().failed.is_empty());
        // The last one finds what the others have computed.
        let is_last =
            keys.chunks(3).last().unwrap().iter().all(|key| kept_now(&sharing).contains(key));
        assert_eq!(error, (!is_last).then_some(NoSquare::Elsewhere(Elsewhere)));
        assert_eq!(sharing.missing(), []);
    }
    let squares = ask(&kept(), &factor, &jobs(9)).unwrap();
    assert_eq!(squares, (1..=9).map(|number| f64::from(number * number * 2)).collect::<Vec<_>>());
    assert_eq!(factor.computed.take(), 0);
}

#[test]
fn what_cannot_be_computed_is_told_with_why() {
    let (_held, folder) = folder();
    let factor = Factor::new(1.0);
    let listing = PointSource::kept_in(&folder).unwrap().listing();
    ask(&listing, &factor, &[Square(-1.0)]).unwrap_err();
    let key = listing.missing()[0].key;
    let unasked = Key::of("nobody asks for it");
    let sharing = PointSource::kept_in(&folder).unwrap().sharing([key, unasked].into());
    assert_eq!(ask(&sharing, &factor, &[Square(-1.0)]).unwrap_err(), NoSquare::Negative(-1.0));
    let failed = vec![FailedPoint { key, why: "-1 is negative".to_owned() }];
    assert_eq!(sharing.report(), Report { failed, ..Report::default() });
}

#[test]
fn what_cannot_be_written_is_not_said_to_be_kept() {
    let (_own, folder) = folder();
    let factor = Factor::new(2.0);
    let listing = PointSource::kept_in(&folder).unwrap().listing();
    assert!(ask(&listing, &factor, &jobs(3)).is_err());
    let keys = listing.missing().iter().map(|point| point.key).collect();
    let sharing = PointSource::kept_in(&folder).unwrap().sharing(keys);
    // As when the disk is full: what was opened is there, and takes nothing.
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(ask(&sharing, &factor, &jobs(3)).unwrap().len(), 3);
    let report = sharing.report();
    assert!(report.kept.is_empty() && report.failed.len() == 3, "{report:?}");
    assert!(report.failed.iter().all(|point| point.why.starts_with("it cannot be written: ")));
}
