//! Bill keys of third-party data sets: "hr272-118", "sjres34".

/// "hr272" with 118, or "hr272-118" -> "hr:118:272". A congress in the key takes precedence.
pub fn bill_id(key: &str, congress: Option<i64>) -> Option<String> {
    let key = key.trim().to_ascii_lowercase();
    let (measure, congress) = match key.split_once('-') {
        Some((measure, congress)) => (measure, Some(congress.parse::<i64>().ok()?)),
        None => (key.as_str(), congress),
    };
    let digits = measure.find(|c: char| c.is_ascii_digit())?;
    let (kind, number) = measure.split_at(digits);
    let number: u32 = number.parse().ok()?;
    josh::catalog::ids::canonical("bills", &format!("{kind}:{}:{number}", congress?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_converted_to_ids() {
        assert_eq!(bill_id("hr272-118", None).as_deref(), Some("hr:118:272"));
        assert_eq!(bill_id("sjres34", Some(119)).as_deref(), Some("sjres:119:34"));
        assert_eq!(bill_id("hr272", None), None);
        assert_eq!(bill_id("pn12-119", None), None);
        assert_eq!(bill_id("", Some(119)), None);
    }
}
