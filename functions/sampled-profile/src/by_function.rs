//! How much of a profile each function has.

use crate::{FunctionId, SampledProfile, Tally};

/// The samples of a function in all its contexts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FunctionTally {
    /// The function that the samples are of.
    pub function: FunctionId,
    /// The samples in the function itself.
    pub own: Tally,
    /// The samples in it or in anything that it called. One that calls itself is counted once.
    pub inclusive: Tally,
}

impl SampledProfile {
    /// The samples of each function, the one with the most of its own first. Functions with as many are
    /// in the order of the profile.
    #[must_use]
    pub fn by_function(&self) -> Vec<FunctionTally> {
        let inclusive = self.contexts.inclusive();
        let mut tallies: Vec<FunctionTally> = self
            .functions
            .iter()
            .map(|(function, _)| FunctionTally {
                function,
                own: Tally::default(),
                inclusive: Tally::default(),
            })
            .collect();
        for (id, context) in self.contexts.iter() {
            let Some(function) = context.function else { continue };
            let tally = &mut tallies[function.index()];
            tally.own.add(context.own);
            if !self.contexts.stack(context.caller).any(|caller| caller == function) {
                tally.inclusive.add(inclusive[id.index()]);
            }
        }
        tallies.sort_by_key(|tally| std::cmp::Reverse(tally.own.weight));
        tallies
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, Function, Origin, Unit};

    #[test]
    fn a_function_that_calls_itself_is_counted_once() {
        let mut profile = SampledProfile::new(Format::Folded, Unit::Samples);
        let [main, work, leaf] = ["main", "work", "leaf"].map(|name| {
            profile.functions.id(&Function {
                name: name.to_owned(),
                object: String::new(),
                origin: Origin::Unknown,
            })
        });
        for (stack, samples) in [
            (&[main][..], 1),
            (&[work, main], 2),
            (&[work, work, main], 4),
            (&[leaf, work, work, main], 8),
        ] {
            profile.contexts.sample(stack, Tally::of(samples, 10 * samples));
        }
        let found: Vec<(FunctionId, u64, u64)> = profile
            .by_function()
            .iter()
            .map(|tally| (tally.function, tally.own.weight, tally.inclusive.weight))
            .collect();
        assert_eq!(found, [(leaf, 80, 80), (work, 60, 140), (main, 10, 150)]);
    }
}
