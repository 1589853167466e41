#![doc = include_str!("../README.md")]

#[expect(unreachable_pub, reason = "the component macro makes its items public")]
mod app;
mod browser;
mod engine;
#[expect(unreachable_pub, reason = "the component macro makes its items public")]
mod load;
#[expect(unreachable_pub, reason = "the component macro makes its items public")]
mod panels;
mod pictures;
mod state;
mod theme;
#[expect(unreachable_pub, reason = "the component macro makes its items public")]
mod timeline;

/// Starts the role that this module was loaded for: the worker's inside a worker, else the page's.
pub fn start() {
    console_error_panic_hook::set_once();
    match engine::worker::scope() {
        Some(scope) => engine::worker::run(&scope),
        None => leptos::mount::mount_to_body(app::Page),
    }
}
