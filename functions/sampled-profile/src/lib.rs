//! Sampled call stacks: readers of several formats, and the one table that all of them fill.
//!
//! A profile is a tree of calling contexts ([`Contexts`]) over a table of functions
//! ([`Functions`]), with what is known about how it came to be ([`Facts`]). Its size is bounded by
//! the distinct stacks in it, not by the samples, so that files of any length can be read.
//!
//! # Decisions
//! * **perf.data is made sane before it is parsed.** The parser crate trusts the sizes in a file.
//!   The records are therefore cut, bounded and expanded here, and only then handed to it
//!   (`stream.rs`).
//! * **Inlined functions of perf.data do not become frames.** Their names are known only if there
//!   is debugging information, and both sides must have the same names.
//! * **Names are looked up once, by place**: an address in a file. Memory use grows with the number
//!   of distinct places. A file whose build id is not the recorded one is not asked for names.

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
pub mod sampler;

pub use by_function::FunctionTally;
pub use context::{Context, ContextId, Contexts, Tally};
pub use event_name::plain_event;
pub use function::{Function, FunctionId, Functions, Origin};
pub use profile::{Facts, Format, Rate, Remark, SampledProfile, Unit};
pub use read::{Limits, Options, Progress, ReadError, read, recognize};
