//! The one place that chooses how connections are encrypted.

/// Makes TLS available to every client of this process; without it, building a client panics.
pub(crate) fn provide() {
    // It fails only where a provider is installed already, which serves as well.
    let _installed = rustls::crypto::ring::default_provider().install_default();
}
