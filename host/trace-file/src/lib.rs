//! The files of binary traces, whatever a trace is of.
//!
//! A file begins with eight bytes that name its kind, and a version of four bytes ([`Format`]). Then
//! come packets: some numbers of four bytes, which tell what is in the packet and how large it is, and
//! then its content, packed by zstd with a checksum ([`Packer`], [`Packet`]). All numbers are
//! little-endian. Within a packet, numbers have a variable length ([`put`], [`take`]).
//!
//! Whoever reads a trace need not trust it: nothing is believed of the sizes that a file states, and
//! an error names the position in the file ([`ReadError`]).

mod format;
mod packet;
mod read_error;
mod varint;

pub use format::Format;
pub use packet::{Packer, Packet, fill};
pub use read_error::{ReadError, TracePosition, Wrong};
pub use varint::{NoNumber, fold, put, take, unfold};
