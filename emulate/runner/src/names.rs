//! What the addresses of a program are called.

use std::collections::HashMap;
use std::path::Path;

use kilocore_emulation_orders::MappedFile;
use kilocore_symbols::{Binary, Outline, Variables};

/// The names of a program's code and data, by the files that were in its memory.
#[derive(Debug)]
pub(crate) struct Names<'a> {
    files: &'a [MappedFile],
    symbols: &'a mut Symbols,
}

/// The symbols of files, for any number of runs. A file is read when somebody asks for the first address in it.
#[derive(Debug, Default)]
pub(crate) struct Symbols(HashMap<String, Option<(Binary, Variables)>>);

impl Symbols {
    fn of(&mut self, path: &str) -> Option<&(Binary, Variables)> {
        let read = || {
            let path = Path::new(path);
            let outline = Outline::open(path).ok()?;
            Some((Binary::of(path, &outline).ok()?, Variables::parse(&outline)))
        };
        self.0.entry(path.to_owned()).or_insert_with(read).as_ref()
    }
}

impl<'a> Names<'a> {
    pub(crate) fn new(files: &'a [MappedFile], symbols: &'a mut Symbols) -> Self {
        Self { files, symbols }
    }

    /// The function at an address, or the file, or the address.
    pub(crate) fn function_or_file(&mut self, address: u64) -> String {
        self.known_function(address).unwrap_or_else(|| {
            let file = self.files.iter().find(|file| (file.start..file.end).contains(&address));
            file.map_or_else(|| format!("code at {address:#x}"), |file| name(&file.path).to_owned())
        })
    }

    fn known_function(&mut self, address: u64) -> Option<String> {
        let file = self.files.iter().find(|file| (file.start..file.end).contains(&address))?;
        let (binary, _, own) = self.symbols(file, address)?;
        let function = binary.frames(own).into_iter().find(|it| !it.function.is_empty());
        function.map(|frame| frame.function)
    }

    /// The function at an address, or the file and where in it, or the address.
    pub(crate) fn function(&mut self, address: u64) -> String {
        let Some(file) = self.files.iter().find(|file| (file.start..file.end).contains(&address))
        else {
            return format!("code at {address:#x}");
        };
        let name = name(&file.path);
        let Some((binary, _, own)) = self.symbols(file, address) else {
            return format!("in {name}");
        };
        let function = binary.frames(own).into_iter().find(|it| !it.function.is_empty());
        match function {
            Some(frame) => frame.function,
            None => format!("{name}+{own:#x}"),
        }
    }

    /// Whether code at an address is of a library that threads wait in for what somebody else wants: the C library's
    /// locks, and those that are made of them.
    pub(crate) fn serves_others(&self, address: u64) -> bool {
        const THOSE: [&str; 8] = [
            "ld-linux",
            "libc.",
            "libc-",
            "libgomp",
            "libkilocore_run.",
            "libomp",
            "libpthread",
            "libstdc++",
        ];
        let file = self.files.iter().find(|file| (file.start..file.end).contains(&address));
        file.is_some_and(|file| THOSE.iter().any(|those| name(&file.path).starts_with(those)))
    }

    /// The variable at an address and how far behind its beginning that is, or what else lies there.
    pub(crate) fn data(&mut self, address: u64) -> String {
        let Some(file) = self.file_before(address) else {
            return format!("memory at {address:#x}");
        };
        let name = name(&file.path);
        match self.variable(address) {
            Some((variable, 0)) => format!("{variable} in {name}"),
            Some((variable, behind)) => format!("{variable}+{behind} in {name}"),
            None if address < file.end => {
                format!("{name}+{:#x}", address - file.start + file.offset)
            }
            None => format!("memory at {address:#x}"),
        }
    }

    /// The variable at an address and how far behind its beginning that is.
    pub(crate) fn variable(&mut self, address: u64) -> Option<(String, u64)> {
        let file = self.file_before(address)?;
        let (_, variables, own) = self.symbols(file, address)?;
        let (variable, behind) = variables.at(own)?;
        Some((variable.into_owned(), behind))
    }

    /// The file that an address is of. What a file does not have, such as variables that are zero at first, lies behind
    /// what it has.
    fn file_before(&self, address: u64) -> Option<&'a MappedFile> {
        let before = self.files.iter().filter(|file| file.start <= address);
        before.max_by_key(|file| file.start)
    }

    /// The symbols of a file, and what the file itself calls an address.
    fn symbols(&mut self, file: &MappedFile, address: u64) -> Option<(&Binary, &Variables, u64)> {
        let (binary, variables) = self.symbols.of(&file.path)?;
        let zero = binary.zero(file.start..file.end, file.offset)?;
        Some((binary, variables, address.wrapping_sub(zero)))
    }
}

/// The file's own name.
fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
