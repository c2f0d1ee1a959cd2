//! Indices that are types: a `BodyIndex` cannot be used where a `JointIndex` is meant.

use std::marker::PhantomData;

/// A typed index into an [`IndexVec`].
pub trait Index: Copy + Eq + Ord {
    /// The index with the number `position`.
    fn from_usize(position: usize) -> Self;
    /// The number of the index, counted from 0.
    fn to_usize(self) -> usize;
}

macro_rules! index_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl Index for $name {
            fn from_usize(position: usize) -> Self {
                debug_assert!(position <= u32::MAX as usize, "an index fits in 32 bits");
                Self(position as u32)
            }
            fn to_usize(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index_type!(
    /// A body (URDF link) of the model. The world is [`BodyIndex::WORLD`].
    BodyIndex
);
index_type!(
    /// A joint of the model, in the order of its inboard-to-outboard numbering.
    JointIndex
);
index_type!(
    /// A joint with one degree of freedom, in the order of a scene's commands, joint states and actuators.
    /// Unlike [`JointIndex`], it does not count fixed, planar and floating joints.
    ScalarJointIndex
);
index_type!(
    /// One scalar generalized velocity of the model.
    DofIndex
);
index_type!(
    /// A collision geometry of the scene.
    GeometryIndex
);

impl BodyIndex {
    /// The world, to which everything else is attached.
    pub const WORLD: BodyIndex = BodyIndex(0);
}

/// A vector that is indexed by its own index type only.
#[derive(Debug, PartialEq)]
pub struct IndexVec<I, T> {
    items: Vec<T>,
    index: PhantomData<I>,
}

impl<I: Index, T> IndexVec<I, T> {
    /// An empty vector.
    pub const fn new() -> Self {
        Self { items: Vec::new(), index: PhantomData }
    }
    /// A vector of `count` copies of `item`.
    pub fn from_elem(item: T, count: usize) -> Self
    where
        T: Clone,
    {
        Self { items: vec![item; count], index: PhantomData }
    }
    /// Appends `item` and returns its index.
    pub fn push(&mut self, item: T) -> I {
        self.items.push(item);
        I::from_usize(self.items.len() - 1)
    }
    /// Removes all elements and keeps the memory.
    pub fn clear(&mut self) {
        self.items.clear();
    }
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.items.len()
    }
    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
    /// The element at `index`, or `None` if there is none.
    pub fn get(&self, index: I) -> Option<&T> {
        self.items.get(index.to_usize())
    }
    /// The element at `index`, mutable, or `None` if there is none.
    pub fn get_mut(&mut self, index: I) -> Option<&mut T> {
        self.items.get_mut(index.to_usize())
    }
    /// Makes every element a copy of `item`.
    pub fn fill(&mut self, item: T)
    where
        T: Clone,
    {
        self.items.fill(item);
    }
    /// The elements in order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }
    /// The elements in order, mutable.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }
    /// The elements in order, each with its index.
    pub fn iter_enumerated(&self) -> impl DoubleEndedIterator<Item = (I, &T)> {
        self.items.iter().enumerate().map(|(position, item)| (I::from_usize(position), item))
    }
    /// All indices in order.
    pub fn indices(&self) -> impl DoubleEndedIterator<Item = I> + use<I, T> {
        (0..self.items.len()).map(I::from_usize)
    }
    /// The elements as a slice.
    pub fn as_slice(&self) -> &[T] {
        &self.items
    }
}

impl<I, T: Clone> Clone for IndexVec<I, T> {
    fn clone(&self) -> Self {
        Self { items: self.items.clone(), index: PhantomData }
    }
    /// Reuses the memory of `self`.
    fn clone_from(&mut self, source: &Self) {
        self.items.clone_from(&source.items);
    }
}

impl<I: Index, T> Default for IndexVec<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: Index, T> FromIterator<T> for IndexVec<I, T> {
    fn from_iter<S: IntoIterator<Item = T>>(source: S) -> Self {
        Self { items: source.into_iter().collect(), index: PhantomData }
    }
}

impl<'a, I: Index, T> IntoIterator for &'a IndexVec<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

impl<I: Index, T> Extend<T> for IndexVec<I, T> {
    fn extend<S: IntoIterator<Item = T>>(&mut self, source: S) {
        self.items.extend(source);
    }
}

impl<I: Index, T> std::ops::Index<I> for IndexVec<I, T> {
    type Output = T;
    fn index(&self, index: I) -> &T {
        &self.items[index.to_usize()]
    }
}

impl<I: Index, T> std::ops::IndexMut<I> for IndexVec<I, T> {
    fn index_mut(&mut self, index: I) -> &mut T {
        &mut self.items[index.to_usize()]
    }
}
