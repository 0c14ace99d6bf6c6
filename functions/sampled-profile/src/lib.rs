//! Sampled call stacks: readers of several formats, and the one table that all of them fill.
//!
//! A profile is a tree of calling contexts ([`Contexts`]) over a table of functions
//! ([`Functions`]), with what is known about how it came to be ([`Facts`]). Its size is bounded by
//! the distinct stacks in it, not by the samples, so that files of any length can be read.

mod by_function;
mod clock;
mod context;
mod event_name;
mod function;
mod idle;
mod in_file;
pub mod perf_data;
mod profile;
mod read;

pub use by_function::FunctionTally;
pub use context::{Context, ContextId, Contexts, Tally};
pub use event_name::plain_event;
pub use function::{Function, FunctionId, Functions, Origin};
pub use profile::{Facts, Format, Rate, Remark, SampledProfile, Unit};
pub use read::{Limits, Options, Progress, ReadError, read, recognize};
