//! Threads that a program binds to processors.

use crate::support::{on, program};

#[test]
fn threads_stay_where_they_are_bound_and_share_a_processor_if_they_have_the_same() {
    let bound = |first: &str, second: &str| {
        let (_, text) = on(48, &program("bound", &[]), &[first, second]);
        let (seen, ms) = text.trim().rsplit_once(' ').expect("a time");
        (seen.to_owned(), ms.parse::<f64>().expect("a number"))
    };
    let (seen, apart) = bound("30", "47");
    assert_eq!(seen, "30 47 47 1 1 Invalid argument");
    let (seen, together) = bound("30", "30");
    assert_eq!(seen, "30 30 30 1 1 Invalid argument");
    assert!((1.9..2.1).contains(&(together / apart)), "{together} {apart} ms");
}
