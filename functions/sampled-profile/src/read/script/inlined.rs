//! Functions that were inlined into others.
//!
//! Only the rest of the stack shows which function an inlined one belongs to. Until then, an
//! inlined function is an index. The function that results from an index and the outer function is
//! remembered.

use std::collections::HashMap;

use super::super::error::ReadError;
use super::super::names::Names;
use super::super::task::Task;
use crate::{FunctionId, Origin};

/// Most pairs of an inlined function and one with code that are remembered.
const INLINED_PAIRS: usize = 1 << 20;

/// Functions without code of their own.
#[derive(Debug, Default)]
pub(crate) struct Inlined {
    names: Vec<(Box<[u8]>, Origin)>,
    indices: HashMap<(Box<[u8]>, Origin), u32>,
    /// By the index and the function that has the code.
    ids: HashMap<(u32, Option<FunctionId>), FunctionId>,
    bytes: usize,
}

impl Inlined {
    /// Whether there is any.
    pub(crate) fn is_used(&self) -> bool {
        !self.names.is_empty()
    }

    /// The index of a name.
    pub(crate) fn index(
        &mut self,
        name: &[u8],
        origin: Origin,
        task: &Task<'_>,
    ) -> Result<u32, ReadError> {
        let key: (Box<[u8]>, Origin) = (name.into(), origin);
        if let Some(&index) = self.indices.get(&key) {
            return Ok(index);
        }
        self.bytes += name.len() + size_of::<(Box<[u8]>, Origin)>();
        let limit = task.options.limits.name_bytes;
        if self.bytes > limit {
            return Err(task.too_large("bytes of names", limit));
        }
        let index = self.names.len() as u32;
        self.names.push(key.clone());
        self.indices.insert(key, index);
        Ok(index)
    }

    /// The function of an index in the code of another one.
    pub(crate) fn id(
        &mut self,
        index: u32,
        outer: Option<FunctionId>,
        names: &mut Names,
        task: &Task<'_>,
    ) -> Result<FunctionId, ReadError> {
        if let Some(&id) = self.ids.get(&(index, outer)) {
            return Ok(id);
        }
        let (name, origin) = &self.names[index as usize];
        let (object, origin) = outer.map_or((String::new(), *origin), |outer| {
            let outer = names.get(outer);
            (outer.object.clone(), outer.origin)
        });
        let id = names.id(name, object.as_bytes(), origin, task)?;
        if self.ids.len() >= INLINED_PAIRS {
            // They can be made again.
            self.ids.clear();
        }
        self.ids.insert((index, outer), id);
        Ok(id)
    }
}
