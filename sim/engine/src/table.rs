//! Vectors that numbers of one kind index.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use crate::ids::Id;

/// A vector with an element for each `I`, and which nothing else indexes.
#[derive(Debug)]
pub(crate) struct Table<I, T> {
    elements: Vec<T>,
    by: PhantomData<fn(I)>,
}

impl<I: Id, T> Table<I, T> {
    pub(crate) const fn new() -> Self {
        Self { elements: Vec::new(), by: PhantomData }
    }

    pub(crate) fn len(&self) -> usize {
        self.elements.len()
    }

    pub(crate) fn push(&mut self, element: T) {
        self.elements.push(element);
    }

    /// The number that the next element will get.
    #[inline]
    pub(crate) fn next_id(&self) -> I {
        I::from_index(self.elements.len())
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.elements.len()).map(I::from_index)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.elements.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.elements.iter_mut()
    }

    pub(crate) fn enumerate(&self) -> impl Iterator<Item = (I, &T)> {
        self.elements.iter().enumerate().map(|(index, element)| (I::from_index(index), element))
    }

    pub(crate) fn enumerate_mut(&mut self) -> impl Iterator<Item = (I, &mut T)> {
        let elements = self.elements.iter_mut().enumerate();
        elements.map(|(index, element)| (I::from_index(index), element))
    }
}

impl<I, T> From<Vec<T>> for Table<I, T> {
    fn from(elements: Vec<T>) -> Self {
        Self { elements, by: PhantomData }
    }
}

impl<I: Id, T> Index<I> for Table<I, T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, id: I) -> &T {
        &self.elements[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for Table<I, T> {
    #[inline(always)]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.elements[id.index()]
    }
}
