//! Compiles the programs of `tests/c`.

use std::path::{Path, PathBuf};
use std::process::Command;

use kilocore_shipped::output_of;

/// Returns a compiled program or library of `tests/c`.
pub(crate) fn compiled(test: &str, name: &str, options: &[&str]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(name);
    let result = folder.join(name);
    let mut compiler = Command::new("gcc");
    compiler.args(["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread"]);
    output_of(compiler.args(options).arg("-o").arg(&result).arg(source.with_extension("c")));
    result
}
