//! The time as it is written into files.

/// Now, in UTC, to the second: `2026-11-18T00:00:00Z`.
pub fn now() -> String {
    let now = time::OffsetDateTime::now_utc();
    let (hour, minute, second) = (now.hour(), now.minute(), now.second());
    format!("{}T{hour:02}:{minute:02}:{second:02}Z", now.date())
}

#[cfg(test)]
mod tests {
    #[test]
    fn now_is_a_time() {
        let now = super::now();
        assert!(now.len() == 20 && now.starts_with("20") && now.ends_with('Z'), "{now}");
    }
}
