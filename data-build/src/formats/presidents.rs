//! Presidents by date, named as in the Federal Register.

/// First day in office and name, oldest first.
const TERMS: &[(&str, &str)] = &[
    ("1933-03-04", "Franklin D. Roosevelt"),
    ("1945-04-12", "Harry S. Truman"),
    ("1953-01-20", "Dwight D. Eisenhower"),
    ("1961-01-20", "John F. Kennedy"),
    ("1963-11-22", "Lyndon B. Johnson"),
    ("1969-01-20", "Richard Nixon"),
    ("1974-08-09", "Gerald R. Ford"),
    ("1977-01-20", "Jimmy Carter"),
    ("1981-01-20", "Ronald Reagan"),
    ("1989-01-20", "George H. W. Bush"),
    ("1993-01-20", "William J. Clinton"),
    ("2001-01-20", "George W. Bush"),
    ("2009-01-20", "Barack Obama"),
    ("2017-01-20", "Donald Trump"),
    ("2021-01-20", "Joseph R. Biden Jr."),
    ("2025-01-20", "Donald Trump"),
];

/// The end of the last term in the table.
const KNOWN_UNTIL: &str = "2029-01-20";

/// The President on an ISO date; on inauguration day, the new one.
pub fn on(iso: &str) -> Option<&'static str> {
    if iso >= KNOWN_UNTIL {
        return None;
    }
    TERMS.iter().rev().find(|(start, _)| *start <= iso).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_begin_on_inauguration_day() {
        assert_eq!(on("2025-01-19"), Some("Joseph R. Biden Jr."));
        assert_eq!(on("2025-01-20"), Some("Donald Trump"));
        assert_eq!(on("1985-06-01"), Some("Ronald Reagan"));
        assert_eq!(on("1900-01-01"), None);
        assert_eq!(on("2031-01-01"), None);
    }
}
