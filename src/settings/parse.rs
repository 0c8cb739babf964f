//! Reads values that are more than a text or a number: lists, addresses, networks, URLs.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use anyhow::{Context, Result, ensure};
use ipnet::IpNet;

use super::DEFAULT_LISTEN;

/// The items of a list that is separated by commas.
pub fn split(given: &Option<String>) -> Vec<String> {
    given
        .iter()
        .flat_map(|g| g.split(','))
        .map(|g| g.trim().to_string())
        .filter(|g| !g.is_empty())
        .collect()
}

pub fn within(name: &str, given: usize, least: usize, most: usize) -> Result<usize> {
    ensure!((least..=most).contains(&given), "{name}: must be {least} to {most}; got {given}");
    Ok(given)
}

pub fn address(name: &str, text: &str) -> Result<SocketAddr> {
    let mut found = text.to_socket_addrs().with_context(|| {
        format!("{name}: {text:?} is not an address with a port, like {DEFAULT_LISTEN}")
    })?;
    found.next().with_context(|| format!("{name}: no address found for {text:?}"))
}

/// A network, or a single address as a network of its own.
pub fn network(text: &str) -> Result<IpNet> {
    let single = || text.parse::<IpAddr>().map(IpNet::from);
    text.parse::<IpNet>().or_else(|_| single()).with_context(|| {
        format!("trusted_proxies: {text:?} is not a network like 10.0.0.0/8 or 192.0.2.7")
    })
}

pub fn public_url(text: &str) -> Result<String> {
    let url = text.trim_end_matches('/');
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let fits = rest.is_some_and(|rest| {
        !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b".-:[]".contains(&b))
    });
    ensure!(
        fits,
        "public_url: {text:?} is not a URL without a path, like https://josh.example.org"
    );
    Ok(url.to_string())
}

/// The host of a URL, without its port.
pub fn host_of(url: &str) -> Option<&str> {
    let authority = url.split("://").nth(1)?.split('/').next()?;
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => Some(host),
        _ => Some(authority),
    }
}
