//! Whether the keys are sorted, and are those that were made.

use kilocore_platform::Platform;

use super::deviates::{PER_KEY, deviate, next_state, state};
use super::summary::Summary;
use super::{Parameters, Radix};
use crate::numa_programs::error::WrongResult;
use crate::numa_programs::random::digest;

/// Compares the result with keys made in another way, in integers, and sorted by the standard
/// library.
pub(super) fn check<P: Platform>(radix: &Radix<P>) -> Result<Summary, WrongResult> {
    let mut wanted = keys(radix.parameters, radix.seed);
    wanted.sort_unstable();
    let found = radix.keys_before(radix.parameters.passes());
    let mut sum = 0;
    for (index, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        let found = found.get();
        if found != wanted {
            let (found, wanted) = (f64::from(found), f64::from(wanted));
            return Err(WrongResult::Differs { what: "key", index, found, wanted });
        }
        sum = digest(sum, u64::from(found));
    }
    Ok(Summary { keys: found.len(), digest: sum })
}

fn keys(parameters: Parameters, seed: u64) -> Vec<u32> {
    let mut last = state(seed, 0);
    let scale = 2f64.powi(parameters.key_bits as i32);
    let mut key = || {
        let mut sum = 0.0;
        for _ in 0..PER_KEY {
            last = next_state(last);
            sum += deviate(last);
        }
        (sum / f64::from(PER_KEY) * scale) as u32
    };
    (0..parameters.keys).map(|_| key()).collect()
}

#[cfg(test)]
mod tests {
    use kilocore_platform::Native;

    use super::*;
    use crate::numa_programs::run::Algorithm;

    #[test]
    fn a_key_that_is_lost_is_noticed() {
        let radix = Radix::<Native>::new(Parameters::SMALL, 1, 1);
        radix.thread(0);
        let summary = check(&radix).unwrap();
        assert_eq!(summary.keys, Parameters::SMALL.keys);
        // Still sorted, but one key stands twice.
        let keys = radix.keys_before(radix.parameters.passes());
        let step = (1..keys.len()).find(|&at| keys[at].get() != keys[at - 1].get()).unwrap();
        keys[step].set(keys[step - 1].get());
        let wrong = check(&radix).unwrap_err();
        assert!(matches!(wrong, WrongResult::Differs { index, .. } if index == step), "{wrong}");
    }

    #[test]
    fn keys_that_changed_places_are_noticed() {
        let radix = Radix::<Native>::new(Parameters::SMALL, 1, 2);
        radix.thread(0);
        let keys = radix.keys_before(radix.parameters.passes());
        let (first, last) = (keys[0].get(), keys[keys.len() - 1].get());
        keys[0].set(last);
        keys[keys.len() - 1].set(first);
        assert!(check(&radix).is_err());
    }
}
