//! How often agencies' sites are visited: one run at a time for each host, and so many in an hour.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const HOUR: Duration = Duration::from_secs(3600);

/// Why a run has to wait, and for how many seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Another run visits the same host.
    Busy,
    /// The hour is full.
    Full { seconds: u64 },
}

#[derive(Debug, Default)]
struct Visits {
    is_running: bool,
    begun: VecDeque<Instant>,
}

#[derive(Clone, Debug)]
pub struct Politeness {
    per_hour: u32,
    hosts: Arc<Mutex<HashMap<String, Visits>>>,
}

/// A visit, until it is dropped.
#[derive(Debug)]
pub struct Visit {
    host: String,
    hosts: Arc<Mutex<HashMap<String, Visits>>>,
}

impl Politeness {
    /// 0 means as many as anybody likes, one after the other.
    pub fn new(per_hour: u32) -> Politeness {
        Politeness { per_hour, hosts: Arc::default() }
    }

    pub fn begin(&self, host: &str) -> Result<Visit, Wait> {
        self.begin_at(host, Instant::now())
    }

    fn begin_at(&self, host: &str, now: Instant) -> Result<Visit, Wait> {
        let mut hosts = self.hosts.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let visits = hosts.entry(host.to_string()).or_default();
        if visits.is_running {
            return Err(Wait::Busy);
        }
        while visits.begun.front().is_some_and(|begun| now.duration_since(*begun) >= HOUR) {
            visits.begun.pop_front();
        }
        if let Some(first) = visits.begun.front()
            && self.per_hour > 0
            && visits.begun.len() >= self.per_hour as usize
        {
            let left = HOUR.saturating_sub(now.duration_since(*first));
            return Err(Wait::Full { seconds: left.as_secs().max(1) });
        }
        visits.is_running = true;
        if self.per_hour > 0 {
            visits.begun.push_back(now);
        }
        Ok(Visit { host: host.to_string(), hosts: self.hosts.clone() })
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        let mut hosts = self.hosts.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(visits) = hosts.get_mut(&self.host) {
            visits.is_running = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_visited_one_at_a_time_and_so_often_an_hour() {
        let polite = Politeness::new(2);
        let start = Instant::now();
        let first = polite.begin_at("a.gov", start).unwrap();
        assert_eq!(polite.begin_at("a.gov", start).unwrap_err(), Wait::Busy);
        assert!(polite.begin_at("b.gov", start).is_ok());
        drop(first);
        drop(polite.begin_at("a.gov", start + Duration::from_secs(600)).unwrap());
        let full = polite.begin_at("a.gov", start + Duration::from_secs(1200)).unwrap_err();
        assert_eq!(full, Wait::Full { seconds: 2400 });
        assert!(polite.begin_at("a.gov", start + HOUR).is_ok());
    }
}
