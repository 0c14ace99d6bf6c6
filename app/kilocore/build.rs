//! Builds nothing. Cargo looks at `[build-dependencies]` only if there is a build script, and that
//! table keeps the features of `syn` as the tests need them; see `Cargo.toml`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
