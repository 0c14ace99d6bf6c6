//! The calling context tree: each distinct stack once, however many samples fell on it.
//!
//! A node is a function with all its callers. Memory is bounded by the distinct stacks and not by
//! the samples; [`Contexts::sample`] is what a reader calls for each of those.

use std::collections::HashMap;

use crate::FunctionId;

/// Which calling context of a profile; an index into its [`Contexts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContextId(u32);

impl ContextId {
    /// The context of everything: no function, no caller.
    pub const ROOT: Self = Self(0);

    /// The index. A caller's is below its callees'.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What fell on a function or a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// How many samples.
    pub samples: u64,
    /// What they stand for, in the profile's [`Unit`](crate::Unit).
    pub weight: u64,
    /// The sum of the squares of what each stands for. If samples come by chance, it is the
    /// variance of `weight`.
    pub squares: u128,
}

impl Tally {
    /// So many samples that stand for as much each.
    #[must_use]
    pub fn of(samples: u64, weight: u64) -> Self {
        let squares = u128::from(weight).pow(2).checked_div(u128::from(samples)).unwrap_or(0);
        Self { samples, weight, squares }
    }

    /// Adds what fell elsewhere. Sums end at what a number can hold.
    pub fn add(&mut self, other: Self) {
        self.samples = self.samples.saturating_add(other.samples);
        self.weight = self.weight.saturating_add(other.weight);
        self.squares = self.squares.saturating_add(other.squares);
    }
}

/// A function and all its callers.
#[derive(Debug, Clone, Copy)]
pub struct Context {
    /// Who calls it; the root is its own caller.
    pub caller: ContextId,
    /// The function; none for the root.
    pub function: Option<FunctionId>,
    /// What fell on it and not on what it called.
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
    /// Counts samples that fell on a stack, the innermost function first. Gives the context.
    ///
    /// # Panics
    /// If there are more than four thousand million contexts.
    pub fn sample(&mut self, stack: &[FunctionId], tally: Tally) -> ContextId {
        let context = stack.iter().rev().fold(ContextId::ROOT, |caller, &f| self.callee(caller, f));
        self.all[context.index()].own.add(tally);
        context
    }

    /// The context of a function that this caller calls, new if it was never seen.
    ///
    /// # Panics
    /// If there are more than four thousand million contexts.
    pub fn callee(&mut self, caller: ContextId, function: FunctionId) -> ContextId {
        // Most contexts were made right after their callers, and are found without the map.
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
    /// If the index is of another profile that has more.
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

    /// All of them with their indices; each after its caller, the root first.
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

    /// What fell on each context or on anything it called, by index.
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

    /// Everything.
    #[must_use]
    pub fn total(&self) -> Tally {
        let mut total = Tally::default();
        for context in &self.all {
            total.add(context.own);
        }
        total
    }
}
