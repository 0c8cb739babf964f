//! How long to wait when a host limits the rate of requests: as long as it states, and otherwise in
//! steps, since hosts behind api.data.gov count the requests of the last hour and state nothing.

use std::time::{Duration, SystemTime};

use anyhow::{Result, anyhow};
use ureq::http::HeaderMap;

/// The first wait if the host states none; doubled each time.
const FIRST_STEP: Duration = Duration::from_secs(60);
/// A step is at most this part of the longest wait, so that a quota that is free again is noticed.
const STEPS: u32 = 6;
/// In `X-RateLimit-Reset`, larger numbers are times and smaller ones are seconds to wait.
const LONGEST_RESET: u64 = 1_000_000_000;

/// The wait that a response states: `Retry-After` in seconds or as a date, or the end of the
/// current window in `X-RateLimit-Reset`.
pub fn stated_wait(headers: &HeaderMap) -> Option<Duration> {
    let header = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    header("retry-after")
        .and_then(retry_after)
        .or_else(|| header("x-ratelimit-reset").and_then(reset))
}

fn retry_after(text: &str) -> Option<Duration> {
    let date = || httpdate::parse_http_date(text).ok().map(from_now);
    text.parse().ok().map(Duration::from_secs).or_else(date)
}

fn reset(text: &str) -> Option<Duration> {
    let number: u64 = text.parse().ok()?;
    match number < LONGEST_RESET {
        true => Some(Duration::from_secs(number)),
        false => SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(number)).map(from_now),
    }
}

fn from_now(time: SystemTime) -> Duration {
    time.duration_since(SystemTime::now()).unwrap_or_default()
}

/// The waits of one request, together at most the longest wait.
#[derive(Default)]
pub struct Waits {
    number: u32,
    total: Duration,
}

impl Waits {
    /// The next wait, or an error if it would be too long.
    pub fn next(&mut self, stated: Option<Duration>, longest: Duration) -> Result<Duration> {
        let left = longest.saturating_sub(self.total);
        let doubled = FIRST_STEP.saturating_mul(1 << self.number.min(6));
        let wait = stated.unwrap_or(doubled.min(longest / STEPS).min(left));
        if wait > left || left.is_zero() {
            let reason = match stated {
                Some(wait) => format!("the host asks to wait {} s", wait.as_secs()),
                None => format!("the host's quota was used up for {} s", longest.as_secs()),
            };
            return Err(anyhow!("{reason}; run the same command again later"));
        }
        self.number += 1;
        self.total += wait;
        Ok(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(
            ureq::http::HeaderName::from_static(name),
            value.parse().expect("a header"),
        )])
    }

    #[test]
    fn stated_waits_are_read() {
        let seconds = |name, value: &str| stated_wait(&headers(name, value)).map(|w| w.as_secs());
        assert_eq!(seconds("retry-after", "120"), Some(120));
        assert_eq!(seconds("retry-after", "Fri, 03 Jan 2025 10:00:00 GMT"), Some(0));
        assert_eq!(seconds("retry-after", "soon"), None);
        assert_eq!(seconds("x-ratelimit-reset", "90"), Some(90));
        assert_eq!(seconds("x-ratelimit-reset", "1735898400"), Some(0));
        assert_eq!(seconds("x-ratelimit-remaining", "0"), None);
    }

    #[test]
    fn unstated_waits_last_as_long_as_the_longest_and_no_longer() {
        let mut waits = Waits::default();
        let hour = Duration::from_secs(3600);
        let minutes: Vec<u64> = std::iter::from_fn(|| waits.next(None, hour).ok())
            .map(|wait| wait.as_secs() / 60)
            .collect();
        assert_eq!(minutes, [1, 2, 4, 8, 10, 10, 10, 10, 5]);
    }
}
