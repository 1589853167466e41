//! The entry of the WebAssembly module, on the page and in its worker alike.

fn main() {
    viewer::start();
}
