//! Turns stacks of addresses into stacks of functions.
//!
//! The files are opened one after the other, each only if code of it was seen. Only regular files
//! are, and what is read of them is bounded: a profile may name any file.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use kilocore_symbols::{Binary, DebugFiles};

use super::super::error::ReadError;
use super::super::names::Names;
use super::super::origin::origin;
use super::super::task::Task;
use super::mappings::Mappings;
use super::stacks::{Count, Stacks};
use crate::{Contexts, Function, FunctionId, Functions, Remark, Tally, in_file};

/// The most files that are opened. Programs have some hundred.
const MOST_FILES: usize = 4096;
/// The most files without names that are told of: those with the most samples.
const TOLD: usize = 16;

/// The functions of a profile, and its stacks.
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) functions: Functions,
    pub(crate) contexts: Contexts,
    pub(crate) remarks: Vec<Remark>,
}

/// Names all addresses. What was counted on a stack becomes its tally by `tally`; stacks on which
/// nothing fell are left out.
pub(crate) fn name(
    stacks: &Stacks,
    mappings: &Mappings,
    tally: impl Fn(Count) -> Tally,
    task: &Task<'_>,
) -> Result<Named, ReadError> {
    let mut namer = Namer { task, names: Names::default(), known: HashMap::new() };
    let mut nameless = namer.all(stacks, mappings)?;
    let mut contexts = Contexts::default();
    let mut functions = Vec::new();
    for (stack, count) in stacks.iter() {
        let tally = tally(count);
        if tally == Tally::default() {
            continue;
        }
        functions.clear();
        functions.extend(stack.iter().map(|address| namer.known[address]));
        contexts.sample(&functions, tally);
        for function in &functions {
            let object = &namer.names.get(*function).object;
            if let Some((_, samples)) = nameless.get_mut(object) {
                *samples = samples.saturating_add(tally.samples);
            }
        }
    }
    let mut nameless: Vec<(String, (String, u64))> = nameless.into_iter().collect();
    nameless.sort_by_key(|(_, (_, samples))| Reverse(*samples));
    let remark = |(object, (why, _))| Remark::NoSymbols { object, why };
    let remarks = nameless.into_iter().take(TOLD).map(remark).collect();
    let (functions, contexts) = namer.names.of(&contexts, |tally| tally);
    Ok(Named { functions, contexts, remarks })
}

/// Finds the functions at addresses, and remembers them.
struct Namer<'a> {
    task: &'a Task<'a>,
    names: Names,
    known: HashMap<u64, FunctionId>,
}

impl Namer<'_> {
    /// Names all addresses of all stacks. Returns the files without any name, each with the reason
    /// and a zero.
    fn all(
        &mut self,
        stacks: &Stacks,
        mappings: &Mappings,
    ) -> Result<BTreeMap<String, (String, u64)>, ReadError> {
        let addresses: BTreeSet<u64> =
            stacks.iter().flat_map(|(stack, _)| stack.iter().copied()).collect();
        let mut by_file: BTreeMap<&str, Vec<(u64, u64)>> = BTreeMap::new();
        for address in addresses {
            match mappings.at(address) {
                Some(mapping) => {
                    let places = by_file.entry(&mapping.path).or_default();
                    places.push((address, mapping.offset(address)));
                }
                None => self.know(address, None, "")?,
            }
        }
        let debug_files = DebugFiles::default();
        let mut nameless = BTreeMap::new();
        for (index, (path, places)) in by_file.into_iter().enumerate() {
            let file = match index < MOST_FILES {
                true => open(path, &debug_files),
                false => Err("there are more files than a program has".to_owned()),
            };
            let mut any = false;
            for (address, offset) in places {
                let binary = file.as_ref().ok();
                let name = binary.and_then(|binary| in_file::names(binary, offset, false).pop());
                any |= name.is_some();
                let name =
                    name.or_else(|| binary.and_then(|file| in_file::in_place(file, offset, path)));
                self.know(address, name, path)?;
            }
            let why = file.map_or_else(Some, |binary| in_file::stripped(&binary));
            if let (false, Some(why)) = (any, why) {
                nameless.insert(path.to_owned(), (why, 0));
            }
        }
        Ok(nameless)
    }

    /// Notes the function at an address.
    fn know(&mut self, address: u64, name: Option<String>, object: &str) -> Result<(), ReadError> {
        let name = name.as_deref().unwrap_or(Function::UNKNOWN);
        let origin = origin(object.as_bytes(), Some(address));
        let id = self.names.id(name.as_bytes(), object.as_bytes(), origin, self.task)?;
        self.known.insert(address, id);
        Ok(())
    }
}

/// Opens a file that was mapped.
fn open(path: &str, debug_files: &DebugFiles) -> Result<Binary, String> {
    if in_file::is_memory(path) {
        return Err("it is memory without a file".to_owned());
    }
    if path.ends_with(" (deleted)") {
        return Err("it was deleted or built anew while the program ran".to_owned());
    }
    let binary = Binary::open(Path::new(path)).map_err(|error| error.to_string())?;
    Ok(in_file::with_debug_file(binary, debug_files))
}
