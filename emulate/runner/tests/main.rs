//! Programs on simulated machines.

mod address_space;
mod bound;
mod causes;
mod chain;
mod chance;
mod closed_forms;
mod conditions;
mod crashes;
mod divided;
mod ends;
mod kept;
mod parts;
mod pipes;
mod placed;
mod polls;
mod replaced;
mod seen;
mod simulated;
mod stacks;
mod stops;
mod support;
mod timers;
