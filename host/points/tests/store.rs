//! What becomes of files.

use std::fs;
use std::path::{Path, PathBuf};

use kilocore_kept_files::KeptFiles;
use kilocore_points::{Batch, Key, PointSource, Store, Subject, Version};

use crate::squares::{Factor, ask, folder, jobs};

/// The files of the folder, by name.
fn files(folder: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(folder.join("kilocore/points")).unwrap();
    let mut all: Vec<PathBuf> = all.map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}

fn subject(shared: &str) -> Subject {
    Subject::new("test", Version::of_this_program().unwrap(), shared)
}

fn batch(number: u32, bytes: usize) -> Batch {
    let mut batch = Batch::default();
    assert!(batch.insert(Key::of(&number), vec![number.to_le_bytes()[0]; bytes].into()));
    batch
}

#[test]
fn a_file_that_is_damaged_is_removed_and_what_it_held_computed_anew() {
    let (_held, folder) = folder();
    let factor = Factor::new(1.0);
    ask(&PointSource::kept_in(&folder).unwrap(), &factor, &jobs(5)).unwrap();
    let [file] = &files(&folder)[..] else { panic!("one batch") };
    let whole = fs::read(file).unwrap();
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 0x10;
    let other = batch(1, 10).to_bytes();
    for damaged in [&whole[..whole.len() / 2], &[], &changed, &other] {
        factor.computed.take();
        fs::write(file, damaged).unwrap();
        ask(&PointSource::kept_in(&folder).unwrap(), &factor, &jobs(5)).unwrap();
        assert_eq!(factor.computed.take(), 5);
        assert!(fs::read(file).unwrap() == whole, "the same points are the same file");
        ask(&PointSource::kept_in(&folder).unwrap(), &factor, &jobs(5)).unwrap();
        assert_eq!(factor.computed.take(), 0);
    }
    // A file whose points are whole, and are none of this computation.
    let stranger = {
        let mut points = Batch::default();
        let known = Batch::read(&whole).unwrap();
        assert_eq!(known.len(), 5);
        points.insert(Key::of(&1), vec![1, 2, 3].into());
        points
    };
    let store = Store::below(&folder).unwrap();
    store.write(&subject("elsewhere"), stranger).unwrap();
    ask(&PointSource::kept_in(&folder).unwrap(), &factor, &jobs(5)).unwrap();
    assert_eq!(factor.computed.take(), 0);
}

#[test]
fn many_small_files_become_one_and_no_point_is_lost() {
    let (_held, folder) = folder();
    let store = Store::below(&folder).unwrap();
    store.write(&subject("other"), batch(1, 3)).unwrap();
    for number in 0..40 {
        store.write(&subject("mine"), batch(number, 5)).unwrap();
        assert!(files(&folder).len() <= 17);
        let all = store.read(&subject("mine"));
        assert_eq!(all.len() as u32, number + 1);
        assert!((0..=number).all(|number| all.get(&Key::of(&number)).is_some()));
    }
    assert_eq!(store.read(&subject("other")), batch(1, 3));
}

#[test]
fn all_files_together_are_bounded_and_the_newest_stay() {
    let (_held, folder) = folder();
    let store = || {
        let files = KeptFiles::below(&folder, "kilocore", "points", 10_000).unwrap();
        Store::in_files(files)
    };
    for number in 0..60_u32 {
        store().write(&subject(&number.to_string()), batch(number, 1_000)).unwrap();
    }
    let total: u64 = files(&folder).iter().map(|file| fs::metadata(file).unwrap().len()).sum();
    assert!(total <= 10_000, "{total}");
    assert_eq!(store().read(&subject("59")), batch(59, 1_000));
    assert!(store().read(&subject("0")).is_empty());
    // So are those of one subject.
    for number in 0..60 {
        store().write(&subject("one"), batch(number, 1_000)).unwrap();
    }
    let kept = store().read(&subject("one"));
    assert!((1..10).contains(&kept.len()), "{}", kept.len());
}

#[test]
fn a_large_batch_is_several_files() {
    let (_held, folder) = folder();
    let store = Store::below(&folder).unwrap();
    let mut large = Batch::default();
    (0..20).for_each(|number| large.append(batch(number, 1 << 20)));
    store.write(&subject("large"), large.clone()).unwrap();
    let sizes: Vec<u64> =
        files(&folder).iter().map(|file| fs::metadata(file).unwrap().len()).collect();
    assert!(sizes.len() == 3 && sizes.iter().all(|&size| size <= 8 << 20), "{sizes:?}");
    assert_eq!(store.read(&subject("large")), large);
}
