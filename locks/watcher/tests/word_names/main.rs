//! Names of programs that wait.

mod gone;
mod hints;

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

pub(crate) const SOURCE: &str = r#"
#include <stdio.h>
int main(void) {
    puts("ready");
    fflush(stdout);
    return getchar() == 0;
}
"#;

/// A program that waits until it is told to end.
pub(crate) struct Waiting(pub(crate) Child);

impl Waiting {
    pub(crate) fn start(program: &Path) -> Self {
        Self::of(&mut Command::new(program))
    }

    pub(crate) fn of(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("it was built");
        // What it says, it says when all of it is in memory.
        let mut ready = [0; 6];
        let output = child.stdout.as_mut().expect("it is a pipe");
        output.read_exact(&mut ready).expect("it says so");
        Self(child)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut input = self.0.stdin.take();
        // It may have ended by itself.
        let _ = input.as_mut().map(|input| input.write_all(b"\n"));
        drop(input);
        let _ = self.0.wait();
    }
}
