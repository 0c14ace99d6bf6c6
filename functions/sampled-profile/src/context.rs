//! The calling context tree: it holds each distinct stack once, however many samples fell on it.
//!
//! A node is a function with all its callers. So memory is bounded by the number of distinct stacks
//! and not by the number of samples. A reader calls [`Contexts::sample`] for each sample.

use std::collections::HashMap;

use crate::FunctionId;

/// A calling context of a profile, as an index into its [`Contexts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContextId(u32);

impl ContextId {
    /// The root, which stands for all samples. It has no function and no caller.
    pub const ROOT: Self = Self(0);

    /// The index. The index of a caller is lower than those of its callees.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The samples that fell on a function or a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// How many samples these are.
    pub samples: u64,
    /// The sum of what the samples stand for, in the profile's [`Unit`](crate::Unit).
    pub weight: u64,
    /// The sum of the squares of what each sample stands for. If samples come at random, this is
    /// the variance of `weight`.
    pub squares: u128,
}

impl Tally {
    /// The tally of `samples` samples that stand for the same amount each.
    #[must_use]
    pub fn of(samples: u64, weight: u64) -> Self {
        let squares = u128::from(weight).pow(2).checked_div(u128::from(samples)).unwrap_or(0);
        Self { samples, weight, squares }
    }

    /// Adds another tally. The sums saturate.
    pub fn add(&mut self, other: Self) {
        self.samples = self.samples.saturating_add(other.samples);
        self.weight = self.weight.saturating_add(other.weight);
        self.squares = self.squares.saturating_add(other.squares);
    }
}

/// A function and all its callers.
#[derive(Debug, Clone, Copy)]
pub struct Context {
    /// The calling context; the root is its own caller.
    pub caller: ContextId,
    /// The function; none for the root.
    pub function: Option<FunctionId>,
    /// The samples in the function itself, without those in functions that it called.
    pub own: Tally,
}

/// The calling contexts of a profile.
#[derive(Debug, Clone)]
pub struct Contexts {
    all: Vec<Context>,
    callees: HashMap<(ContextId, FunctionId), ContextId>,
}

impl Default for Contexts {
    fn default() -> Self {
        let root = Context { caller: ContextId::ROOT, function: None, own: Tally::default() };
        Self { all: vec![root], callees: HashMap::new() }
    }
}

impl Contexts {
    /// Counts samples of a stack, given with the innermost function first. Returns the context.
    ///
    /// # Panics
    /// If there are more than four thousand million contexts.
    pub fn sample(&mut self, stack: &[FunctionId], tally: Tally) -> ContextId {
        let context = stack.iter().rev().fold(ContextId::ROOT, |caller, &f| self.callee(caller, f));
        self.all[context.index()].own.add(tally);
        context
    }

    /// Returns the context of `function` when `caller` calls it, and makes it if it is new.
    ///
    /// # Panics
    /// If there are more than four thousand million contexts.
    pub fn callee(&mut self, caller: ContextId, function: FunctionId) -> ContextId {
        // Most contexts were created right after their callers, so they are found without the map.
        let behind = caller.index() + 1;
        if let Some(context) = self.all.get(behind)
            && (context.caller, context.function) == (caller, Some(function))
        {
            return ContextId(behind as u32);
        }
        let next = self.all.len();
        *self.callees.entry((caller, function)).or_insert_with(|| {
            let id = ContextId(u32::try_from(next).expect("contexts fit into memory"));
            self.all.push(Context { caller, function: Some(function), own: Tally::default() });
            id
        })
    }

    /// The context of an index.
    ///
    /// # Panics
    /// If the index comes from another profile that has more contexts.
    #[must_use]
    pub fn get(&self, id: ContextId) -> &Context {
        &self.all[id.index()]
    }

    /// How many there are, the root among them.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "the root is always there")]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// All contexts with their indices. The root comes first, and each context comes after its
    /// caller.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (ContextId, &Context)> {
        self.all.iter().enumerate().map(|(index, context)| (ContextId(index as u32), context))
    }

    /// The functions of a context, the innermost first.
    pub fn stack(&self, id: ContextId) -> impl Iterator<Item = FunctionId> {
        let mut at = id;
        std::iter::from_fn(move || {
            let Context { caller, function, .. } = *self.get(at);
            at = caller;
            function
        })
    }

    /// For each context, by index, the samples in it or in anything that it called.
    #[must_use]
    pub fn inclusive(&self) -> Vec<Tally> {
        let mut sums: Vec<Tally> = self.all.iter().map(|context| context.own).collect();
        for (id, context) in self.iter().rev() {
            if id != ContextId::ROOT {
                let own = sums[id.index()];
                sums[context.caller.index()].add(own);
            }
        }
        sums
    }

    /// Returns the sum of all samples.
    #[must_use]
    pub fn total(&self) -> Tally {
        let mut total = Tally::default();
        for context in &self.all {
            total.add(context.own);
        }
        total
    }
}
