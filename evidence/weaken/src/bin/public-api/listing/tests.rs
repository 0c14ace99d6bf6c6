//! A small crate with an item of each kind, listed.

use std::fs;
use std::process::Command;

use super::listing;

const SOURCE: &str = r#"
#![allow(dead_code)]
use std::fmt::Debug;

mod hidden {
    pub struct Seen<T>(pub T, u8);
    pub struct Unseen;
    pub mod inner { pub const LIMIT: usize = 3; }
}
pub use hidden::Seen;
pub use hidden::inner::*;
pub use std::sync::atomic::Ordering as Order;

macro_rules! make { ($name:ident) => { #[derive(Clone, Copy)] pub struct $name { pub size: u32 } } }
make!(Made);

#[non_exhaustive]
pub enum Kind { Plain, Pair(u8, i8), Named { of: [u8; 4] } }

#[repr(C)]
pub union Either { pub a: u32, pub b: f32 }

pub unsafe trait Walk<'a, T: ?Sized + 'a = str>: Send {
    type Item: Debug;
    const DEEP: bool = false;
    fn step(&mut self, by: &'a T) -> Option<Self::Item>;
    fn rest(self) where Self: Sized {}
}

impl Made {
    #[must_use]
    pub const unsafe fn at<const N: usize>(self: &Self, from: *const [u8; N]) -> &'static (dyn Fn(&str) -> u8 + Sync) {
        let _ = from;
        &|_| 1
    }
    fn unseen(&self) {}
}

pub fn run<F>(work: F, other: impl Into<String>) -> Result<(), Box<dyn std::error::Error>>
where
    F: for<'x> FnMut(&'x str) -> fn(u8) -> (u8,),
{
    drop((work, other));
    Ok(())
}

pub type Short<T> = Seen<Vec<T>>;
pub static TOTAL: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
#[macro_export]
macro_rules! shout { () => {} }
"#;

const LIST: &str = "\
#[repr(c)] pub union planted::Either
    pub a: u32
    pub b: f32
    impl core::marker::Send for planted::Either
    impl core::marker::Sync for planted::Either
#[non_exhaustive] pub enum planted::Kind
    Plain
    Pair(u8, i8)
    Named
        of: [u8; 4]
    impl core::marker::Send for planted::Kind
    impl core::marker::Sync for planted::Kind
pub const planted::LIMIT: usize
pub struct planted::Made
    pub size: u32
    impl core::clone::Clone for planted::Made
    impl core::marker::Copy for planted::Made
    impl core::marker::Send for planted::Made
    impl core::marker::Sync for planted::Made
    impl planted::Made
        #[must_use] pub const unsafe fn at<const N: usize>(&self, from: *const [u8; N]) -> &'static dyn core::ops::function::Fn(&str) -> u8 + core::marker::Sync
pub use std::sync::atomic::Ordering as planted::Order
pub struct planted::Seen<T>(pub T, _)
    impl<T> core::marker::Send for planted::Seen<T> where T: core::marker::Send
    impl<T> core::marker::Sync for planted::Seen<T> where T: core::marker::Sync
pub type planted::Short<T> = planted::Seen<alloc::vec::Vec<T>>
pub static planted::TOTAL: core::sync::atomic::AtomicU32
pub unsafe trait planted::Walk<'a, T: ?core::marker::Sized + 'a = str>: core::marker::Send
    type Item: core::fmt::Debug
    const DEEP: bool = ..
    fn step(&mut self, by: &'a T) -> core::option::Option<<Self as planted::Walk>::Item>
    fn rest(self) where Self: core::marker::Sized { .. }
pub fn planted::run<F>(work: F, other: impl core::convert::Into<alloc::string::String>) -> core::result::Result<(), alloc::boxed::Box<dyn core::error::Error>> where F: for<'x> core::ops::function::FnMut(&'x str) -> fn(u8) -> (u8,)
macro planted::shout!
";

#[test]
fn every_kind_of_item_is_listed() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("planted.rs");
    fs::write(&source, SOURCE).expect("it can be written");
    let output = Command::new("rustdoc")
        .args([
            "--edition=2024",
            "--crate-name=planted",
            "-Zunstable-options",
            "--output-format=json",
        ])
        .arg("--out-dir")
        .args([folder.path(), &source])
        .env("RUSTC_BOOTSTRAP", "1")
        .output()
        .expect("rustdoc can be run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let described = fs::read(folder.path().join("planted.json")).expect("rustdoc wrote it");
    let list =
        listing(&serde_json::from_slice(&described).expect("it is JSON")).expect("it is known");
    assert_eq!(list, LIST);
}
