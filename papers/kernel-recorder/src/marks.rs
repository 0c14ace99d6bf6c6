//! The instructions by which a program says that a processor begins, and that it ends.

/// What a mark says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Begin,
    End,
}

/// The mark that an instruction is: `nopl CONSTANT(%rax,%rax,1)`, in `linux/paths/operations.c`.
pub(crate) fn mark(bytes: &[u8]) -> Option<Mark> {
    match bytes {
        [0x0f, 0x1f, 0x84, 0x00, which, b'L', b'I', b'K'] => match which {
            1 => Some(Mark::Begin),
            2 => Some(Mark::End),
            _ => None,
        },
        _ => None,
    }
}
