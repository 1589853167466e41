//! The artifact host: requests without a socket, real sockets, real processes, a real bucket.

mod bucket;
mod client;
mod compare;
mod faults;
mod http;
mod kill;
mod log;
mod openapi;
mod parts;
mod publications;
mod repeats;
mod sockets;
mod support;
mod sweeps;
mod trust;
mod watched;
