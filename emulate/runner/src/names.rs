//! What the addresses of a program are called.

use std::collections::HashMap;
use std::path::Path;

use kilocore_emulation_orders::MappedFile;
use kilocore_symbols::{Binary, Variables};

/// The names of a program's code and data, by the files that were in its memory. A file is read when somebody asks
/// for the first address in it.
#[derive(Debug)]
pub(crate) struct Names<'a> {
    files: &'a [MappedFile],
    known: HashMap<&'a str, Option<Symbols>>,
}

#[derive(Debug)]
struct Symbols {
    binary: Binary,
    variables: Variables,
    /// Where the file's address zero lies in memory.
    zero: u64,
}

impl<'a> Names<'a> {
    pub(crate) fn new(files: &'a [MappedFile]) -> Self {
        Self { files, known: HashMap::new() }
    }

    /// The function at an address, or the file and where in it, or the address.
    pub(crate) fn function(&mut self, address: u64) -> String {
        let Some(file) = self.files.iter().find(|file| (file.start..file.end).contains(&address))
        else {
            return format!("code at {address:#x}");
        };
        let name = name(&file.path);
        let Some(symbols) = self.symbols(file) else { return format!("in {name}") };
        let own = address.wrapping_sub(symbols.zero);
        let function = symbols.binary.frames(own).into_iter().find(|it| !it.function.is_empty());
        match function {
            Some(frame) => frame.function,
            None => format!("{name}+{own:#x}"),
        }
    }

    /// The variable at an address and how far behind its beginning that is, or what else lies there.
    pub(crate) fn data(&mut self, address: u64) -> String {
        // What a file does not have, such as variables that are zero at first, lies behind what it has.
        let before = self.files.iter().filter(|file| file.start <= address);
        let Some(file) = before.max_by_key(|file| file.start) else {
            return format!("memory at {address:#x}");
        };
        let name = name(&file.path);
        let variable = self.symbols(file).and_then(|symbols| {
            let (variable, behind) = symbols.variables.at(address.wrapping_sub(symbols.zero))?;
            Some(match behind {
                0 => variable.into_owned(),
                _ => format!("{variable}+{behind}"),
            })
        });
        match variable {
            Some(variable) => format!("{variable} in {name}"),
            None if address < file.end => {
                format!("{name}+{:#x}", address - file.start + file.offset)
            }
            None => format!("memory at {address:#x}"),
        }
    }

    fn symbols(&mut self, file: &'a MappedFile) -> Option<&Symbols> {
        let read = || {
            let binary = Binary::open(Path::new(&file.path)).ok()?;
            let zero = binary.zero(file.start..file.end, file.offset)?;
            Some(Symbols { binary, variables: Variables::open(Path::new(&file.path)), zero })
        };
        self.known.entry(&file.path).or_insert_with(read).as_ref()
    }
}

/// The file's own name.
fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
