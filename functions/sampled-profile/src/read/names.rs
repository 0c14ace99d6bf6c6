//! Looks up functions by the bytes that name them, without an allocation for a known one.

use std::collections::HashMap;

use super::error::ReadError;
use super::task::Task;
use crate::{ContextId, Contexts, Function, FunctionId, Functions, Origin, Tally};

/// The functions of a profile that is being read.
#[derive(Debug, Default)]
pub(crate) struct Names {
    functions: Functions,
    ids: HashMap<Box<[u8]>, FunctionId>,
    /// The name, the object and the origin of the function being looked up.
    key: Vec<u8>,
    /// Bytes of all keys.
    bytes: usize,
}

impl Names {
    /// Returns a function's index. Bytes that are not UTF-8 become replacement characters.
    pub(crate) fn id(
        &mut self,
        name: &[u8],
        object: &[u8],
        origin: Origin,
        task: &Task<'_>,
    ) -> Result<FunctionId, ReadError> {
        self.key.clear();
        self.key.extend_from_slice(name);
        self.key.push(0);
        self.key.extend_from_slice(object);
        self.key.push(0);
        self.key.push(origin as u8);
        if let Some(&id) = self.ids.get(&self.key[..]) {
            return Ok(id);
        }
        self.bytes += self.key.len();
        if self.bytes > task.options.limits.name_bytes {
            let limit = task.options.limits.name_bytes;
            return Err(task.too_large("bytes of names", limit));
        }
        let name = if name.is_empty() { Function::UNKNOWN.as_bytes() } else { name };
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let id = self.functions.id(&Function { name: text(name), object: text(object), origin });
        self.ids.insert(self.key[..].into(), id);
        Ok(id)
    }

    /// The function of an index.
    pub(crate) fn get(&self, id: FunctionId) -> &Function {
        self.functions.get(id)
    }

    /// Returns the functions that these contexts use, in the order in which the contexts use them,
    /// and the contexts over them with each tally converted. Functions that only other events'
    /// contexts use are left out.
    pub(crate) fn of(
        &self,
        contexts: &Contexts,
        tally: impl Fn(Tally) -> Tally,
    ) -> (Functions, Contexts) {
        let mut functions = Functions::default();
        let mut again = Contexts::default();
        let mut ids: Vec<ContextId> = Vec::with_capacity(contexts.len());
        for (_, context) in contexts.iter() {
            let id = context.function.map_or(ContextId::ROOT, |function| {
                again.callee(ids[context.caller.index()], functions.id(self.get(function)))
            });
            ids.push(id);
        }
        for ((_, context), id) in contexts.iter().zip(ids) {
            if context.own != Tally::default() {
                let stack: Vec<FunctionId> = again.stack(id).collect();
                again.sample(&stack, tally(context.own));
            }
        }
        (functions, again)
    }

    pub(crate) fn into_functions(self) -> Functions {
        self.functions
    }
}

/// Whether a function of the kernel is among them.
pub(crate) fn has_kernel(functions: &Functions) -> bool {
    functions.iter().any(|(_, function)| function.origin == Origin::Kernel)
}
