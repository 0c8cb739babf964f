//! The three questions that the API takes, and the checks before one is asked: what the Bank would
//! refuse is refused here, without a request.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::answer::Failure;
use super::catalog::{FREQUENCIES, MOST_CODES};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Json,
    Csv,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lang {
    Jp,
    En,
}

impl Format {
    pub const fn name(self) -> &'static str {
        match self {
            Format::Json => "json",
            Format::Csv => "csv",
        }
    }
}

impl Lang {
    pub const fn name(self) -> &'static str {
        match self {
            Lang::Jp => "jp",
            Lang::En => "en",
        }
    }
}

/// A checked question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub format: Format,
    pub lang: Lang,
    pub db: String,
    pub endpoint: Endpoint,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    Code { codes: Vec<String>, window: Window },
    Layer { layers: Vec<String>, frequency: &'static str, window: Window },
    Metadata,
}

/// Which periods, and from which series on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    pub start: Option<String>,
    pub end: Option<String>,
    pub position: Option<u64>,
}

/// What stays as it is in a query string.
const PLAIN: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'@').remove(b'*').remove(b',');

impl Question {
    /// Checks everything that can be checked without the Bank, and normalizes.
    pub fn checked(mut self) -> Result<Question, Failure> {
        self.db = word("db", &self.db)?.to_ascii_uppercase();
        match &mut self.endpoint {
            Endpoint::Code { codes, window } => {
                if codes.is_empty() || codes.len() > MOST_CODES {
                    let count = codes.len();
                    return Err(Failure::invalid(format!(
                        "codes: takes 1 to {MOST_CODES} series codes; got {count}"
                    )));
                }
                for code in codes.iter_mut() {
                    *code = word("codes", code)?.to_string();
                }
                window.check(None)?;
            }
            Endpoint::Layer { layers, frequency, window } => {
                if layers.is_empty() || layers.len() > 5 {
                    let count = layers.len();
                    return Err(Failure::invalid(format!("layers: takes 1 to 5; got {count}")));
                }
                for layer in layers.iter_mut() {
                    *layer = word("layers", layer)?.to_string();
                    let is_number = layer.parse::<u32>().is_ok_and(|number| number >= 1);
                    if *layer != "*" && !is_number {
                        return Err(Failure::invalid(format!(
                            "layers: each is * or a number from 1; got {layer:?}"
                        )));
                    }
                }
                window.check(Some(*frequency))?;
            }
            Endpoint::Metadata => {}
        }
        Ok(self)
    }

    /// The path at the Bank.
    pub const fn path(&self) -> &'static str {
        match self.endpoint {
            Endpoint::Code { .. } => "/api/v1/getDataCode",
            Endpoint::Layer { .. } => "/api/v1/getDataLayer",
            Endpoint::Metadata => "/api/v1/getMetadata",
        }
    }

    /// The documented parameters, those that are set.
    pub fn parameters(&self) -> Vec<(&'static str, String)> {
        let mut all = vec![
            ("format", self.format.name().to_string()),
            ("lang", self.lang.name().to_string()),
            ("db", self.db.clone()),
        ];
        let window = match &self.endpoint {
            Endpoint::Code { codes, window } => {
                all.push(("code", codes.join(",")));
                Some(window)
            }
            Endpoint::Layer { layers, frequency, window } => {
                all.extend([("layer", layers.join(",")), ("frequency", frequency.to_string())]);
                Some(window)
            }
            Endpoint::Metadata => None,
        };
        if let Some(window) = window {
            all.extend(window.start.iter().map(|start| ("startDate", start.clone())));
            all.extend(window.end.iter().map(|end| ("endDate", end.clone())));
            all.extend(window.position.map(|position| ("startPosition", position.to_string())));
        }
        all
    }

    /// Path and query.
    pub fn target(&self) -> String {
        let pair = |(name, value): (&str, String)| {
            format!("{name}={}", utf8_percent_encode(&value, PLAIN))
        };
        let query: Vec<String> = self.parameters().into_iter().map(pair).collect();
        format!("{}?{}", self.path(), query.join("&"))
    }

    pub const fn window(&self) -> Option<&Window> {
        match &self.endpoint {
            Endpoint::Code { window, .. } | Endpoint::Layer { window, .. } => Some(window),
            Endpoint::Metadata => None,
        }
    }
}

/// The frequency that a text stands for, in any case.
pub fn frequency(text: &str) -> Result<&'static str, Failure> {
    let known = FREQUENCIES.iter().find(|(code, _)| code.eq_ignore_ascii_case(text));
    known.map(|(code, _)| *code).ok_or_else(|| {
        let codes: Vec<&str> = FREQUENCIES.iter().map(|(code, _)| *code).collect();
        let shown: String = text.chars().take(40).collect();
        Failure::invalid(format!("frequency: takes one of {}; got {shown:?}", codes.join(", ")))
    })
}

/// A value that the API takes: printable ASCII without the characters that it forbids.
fn word<'a>(name: &str, text: &'a str) -> Result<&'a str, Failure> {
    let trimmed = text.trim();
    let shown: String = text.chars().take(40).collect();
    let fail = |why: &str| Err(Failure::invalid(format!("{name}: {why}; got {shown:?}")));
    if trimmed.is_empty() {
        return fail("must not be blank");
    }
    if trimmed.len() > 100 {
        return fail("is longer than 100 characters");
    }
    if !trimmed.bytes().all(|b| b.is_ascii_graphic()) {
        return fail("takes ASCII characters without spaces only");
    }
    if trimmed.contains(['<', '>', '"', '!', '|', '\\', ';', '\'']) {
        return fail("must not contain < > \" ! | \\ ; '");
    }
    if trimmed.contains(',') {
        return fail("must not contain a comma: give a list");
    }
    Ok(trimmed)
}

impl Window {
    /// `frequency` is known for a question by layer.
    fn check(&self, frequency: Option<&str>) -> Result<(), Failure> {
        let mut numbers = Vec::new();
        for (name, date) in [("start_date", &self.start), ("end_date", &self.end)] {
            if let Some(date) = date {
                numbers.push((date.len(), check_date(name, date, frequency)?));
            }
        }
        if let [(start_digits, start), (end_digits, end)] = numbers[..] {
            if start_digits != end_digits {
                return Err(Failure::invalid(
                    "end_date: must have as many digits as start_date".to_string(),
                ));
            }
            if start > end {
                return Err(Failure::invalid("start_date: is after end_date".to_string()));
            }
        }
        if self.position == Some(0) {
            return Err(Failure::invalid("start_position: begins at 1".to_string()));
        }
        Ok(())
    }
}

fn check_date(name: &str, date: &str, frequency: Option<&str>) -> Result<u32, Failure> {
    let shown: String = date.chars().take(20).collect();
    let fail = |why: String| Err(Failure::invalid(format!("{name}: {why}; got {shown:?}")));
    if !date.bytes().all(|b| b.is_ascii_digit()) || ![4, 6].contains(&date.len()) {
        return fail("takes digits: YYYY, or YYYY and two more".into());
    }
    let year: u32 = date[..4].parse().unwrap_or(0);
    if !(1850..=2050).contains(&year) {
        return fail("lies outside of 1850 to 2050".into());
    }
    let part: Option<u32> = date.get(4..6).and_then(|part| part.parse().ok());
    let most = match frequency {
        Some("CY" | "FY") => None,
        Some("CH" | "FH") => Some(2),
        Some("Q") => Some(4),
        _ => Some(12),
    };
    let fits = match (frequency, part, most) {
        // Of a question by code the frequency is not known before.
        (None, None, _) => true,
        (_, Some(part), Some(most)) => (1..=most).contains(&part),
        (_, part, most) => part.is_none() && most.is_none(),
    };
    if !fits {
        return fail(match (frequency, most) {
            (Some(frequency), Some(most)) => {
                format!("for {frequency} is YYYY and 01 to {most:02}")
            }
            (Some(frequency), None) => format!("for {frequency} is YYYY"),
            _ => "is YYYY, or YYYY and 01 to 12".into(),
        });
    }
    Ok(date.parse().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(codes: &[&str], window: Window) -> Result<Question, Failure> {
        let codes = codes.iter().map(|code| code.to_string()).collect();
        let (format, lang) = (Format::Json, Lang::En);
        Question { format, lang, db: "fm08".into(), endpoint: Endpoint::Code { codes, window } }
            .checked()
    }

    fn layer(
        layers: &[&str],
        frequency: &'static str,
        window: Window,
    ) -> Result<Question, Failure> {
        let layers = layers.iter().map(|layer| layer.to_string()).collect();
        let endpoint = Endpoint::Layer { layers, frequency, window };
        Question { format: Format::Csv, lang: Lang::Jp, db: "CO".into(), endpoint }.checked()
    }

    fn window(start: &str, end: &str) -> Window {
        let date = |text: &str| (!text.is_empty()).then(|| text.to_string());
        Window { start: date(start), end: date(end), position: None }
    }

    #[test]
    fn a_question_has_exactly_the_documented_parameters() {
        let asked = code(&["MADR1Z@D", "B"], Window { position: Some(3), ..window("2024", "") });
        assert_eq!(
            asked.unwrap().target(),
            "/api/v1/getDataCode?format=json&lang=en&db=FM08&code=MADR1Z@D,B&startDate=2024\
             &startPosition=3"
        );
        assert_eq!(
            layer(&["1", "*"], "Q", window("202401", "202404")).unwrap().target(),
            "/api/v1/getDataLayer?format=csv&lang=jp&db=CO&layer=1,*&frequency=Q\
             &startDate=202401&endDate=202404"
        );
    }

    #[test]
    fn what_the_bank_would_refuse_is_not_asked() {
        let many: Vec<&str> = vec!["A"; 1_251];
        for (asked, why) in [
            (code(&[], Window::default()), "1 to 1250"),
            (code(&many, Window::default()), "1251"),
            (code(&[" "], Window::default()), "blank"),
            (code(&["A,B"], Window::default()), "comma"),
            (code(&["IR01'A"], Window::default()), "must not contain"),
            (code(&["ＡＢ"], Window::default()), "ASCII"),
            (code(&["A"], window("2024", "202401")), "as many digits"),
            (code(&["A"], window("202402", "202401")), "after"),
            (code(&["A"], window("1849", "")), "1850"),
            (code(&["A"], window("202413", "")), "01 to 12"),
            (code(&["A"], window("24", "")), "digits"),
            (code(&["A"], Window { position: Some(0), ..Window::default() }), "begins at 1"),
            (layer(&[], "M", Window::default()), "1 to 5"),
            (layer(&["1", "2", "3", "4", "5", "6"], "M", Window::default()), "1 to 5"),
            (layer(&["0"], "M", Window::default()), "from 1"),
            (layer(&["1"], "Q", window("202405", "")), "01 to 04"),
            (layer(&["1"], "CY", window("202401", "")), "YYYY"),
            (layer(&["1"], "M", window("2024", "")), "01 to 12"),
        ] {
            let failure = asked.unwrap_err();
            assert!(failure.message.contains(why), "{why}: {}", failure.message);
            assert!(!failure.is_retryable() && failure.name() == "VALIDATION_ERROR");
        }
        assert!(frequency("q").is_ok() && frequency("WEEKLY(MONDAY)").is_err());
    }
}
