//! Keys and values in a file: a B-tree on the buffer pool, whose changes are all there or not at all, whenever
//! the power fails.
//!
//! ```text
//! cargo run --release -p kilocore-buffer-pool --example key_value -- things.kv put apple red
//! cargo run --release -p kilocore-buffer-pool --example key_value -- things.kv get apple
//! cargo run --release -p kilocore-buffer-pool --example key_value -- things.kv list
//! ```
//!
//! A file is one program's at a time: another that would change it meanwhile is refused. `tests/key_value.rs`
//! lets the power fail at every point.

pub(crate) mod node;
pub(crate) mod root;
pub(crate) mod tree;

use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use kilocore_buffer_pool::{BufferPool, FileStore, Options};

use node::PAGE;
use tree::Tree;

const USAGE: &str = "\
usage: key_value FILE get KEY
       key_value FILE put KEY VALUE
       key_value FILE remove KEY
       key_value FILE list [FROM]
       key_value FILE load         (lines of KEY, a tab, VALUE from standard input)
       key_value FILE check        (reads all of it, and says what the pool did)";

/// How many pages are in memory: 4 MiB.
const CAPACITY: u32 = 1024;

type Failure = Box<dyn Error>;

#[cfg_attr(test, expect(dead_code, reason = "tests call `run`"))]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let Some((file, command)) = arguments.split_first() else { return refuse(USAGE) };
    match run(file, command) {
        Ok(code) => code,
        Err(error) => refuse(&explain(&*error)),
    }
}

fn refuse(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::from(2)
}

/// Returns what happened, and why.
fn explain(error: &(dyn Error + 'static)) -> String {
    let mut said = error.to_string();
    let mut reason = error.source();
    while let Some(error) = reason {
        said.push_str(": ");
        said.push_str(&error.to_string());
        reason = error.source();
    }
    said
}

/// Opens the tree of a file, for changing it or only for reading it.
pub(crate) fn open(file: &str, changes: bool) -> Result<Tree<FileStore>, Failure> {
    let store = FileStore::open(file, File::options().read(true).write(changes).create(changes))?;
    let pool = BufferPool::new(store, Options::new(CAPACITY, PAGE))?;
    Tree::open(pool).map_err(|error| in_file(file, error.into()))
}

fn in_file(file: &str, error: Failure) -> Failure {
    format!("{file}: {}", explain(&*error)).into()
}

pub(crate) fn run(file: &str, command: &[&str]) -> Result<ExitCode, Failure> {
    let changes = matches!(command, ["put", _, _] | ["remove", _] | ["load"]);
    if !changes && !matches!(command, ["get", _] | ["list"] | ["list", _] | ["check"]) {
        // Before a file is made.
        return Ok(refuse(USAGE));
    }
    let tree = open(file, changes)?;
    work(&tree, command, changes).map_err(|error| in_file(file, error))
}

fn work(tree: &Tree<FileStore>, command: &[&str], changes: bool) -> Result<ExitCode, Failure> {
    match command {
        ["get", key] => match tree.get(key.as_bytes())? {
            Some(value) => println!("{}", String::from_utf8_lossy(&value)),
            None => return Ok(ExitCode::from(1)),
        },
        ["put", key, value] => tree.put(key.as_bytes(), value.as_bytes())?,
        ["remove", key] => tree.remove(key.as_bytes())?,
        ["list"] => list(tree, "")?,
        ["list", from] => list(tree, from)?,
        ["load"] => load(tree)?,
        ["check"] => check(tree)?,
        _ => return Ok(refuse(USAGE)),
    }
    if changes {
        tree.commit()?;
    }
    Ok(ExitCode::SUCCESS)
}

fn list(tree: &Tree<FileStore>, from: &str) -> Result<(), Failure> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut result = Ok(());
    tree.list(from.as_bytes(), &mut |key, value| {
        let (key, value) = (String::from_utf8_lossy(key), String::from_utf8_lossy(value));
        if result.is_ok() {
            result = writeln!(out, "{key}\t{value}");
        }
    })?;
    match result.and_then(|()| out.flush()) {
        // Whoever reads it has read enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => Ok(result?),
    }
}

fn check(tree: &Tree<FileStore>) -> Result<(), Failure> {
    let mut keys = 0_u64;
    tree.list(&[], &mut |_, _| keys += 1)?;
    let did = tree.pool().statistics();
    println!("{keys} keys; {} pages read, {} found in memory", did.misses, did.hits);
    Ok(())
}

fn load(tree: &Tree<FileStore>) -> Result<(), Failure> {
    for (number, line) in io::stdin().lock().lines().enumerate() {
        let line = line?;
        let Some((key, value)) = line.split_once('\t') else {
            return Err(format!("line {}: no tab between a key and a value", number + 1).into());
        };
        tree.put(key.as_bytes(), value.as_bytes())
            .map_err(|error| format!("line {}: {error}", number + 1))?;
    }
    Ok(())
}
