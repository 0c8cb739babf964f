//! The TOML file of settings: reading it, and printing one in which every setting is explained.
//! Names in the file that are not settings are refused; variables that are none get a warning.

use std::path::Path;

use anyhow::{Context, Result, bail};
use toml::{Table, Value};

use super::{RawSettings, SETTINGS, Setting};
use crate::output::note;
use crate::spelling::nearest;

impl RawSettings {
    /// These settings, completed by those of the file that `config` names.
    pub fn with_file(self) -> Result<RawSettings> {
        let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        for warning in unknown_variables(names) {
            note!("josh: warning: {warning}");
        }
        let file = match &self.config {
            Some(path) => read_file(path)?,
            None => RawSettings::default(),
        };
        Ok(self.or(file))
    }

    /// A TOML file with the same settings. Those that are not given are commented out.
    pub fn as_file(&self) -> Result<String> {
        let given = Table::try_from(self)?;
        let mut out = String::from(
            "# Settings of josh serve. To change one, remove the \"# \" before its name. The value \
             shown is\n# the default or, where the comment names a default, an example.\n",
        );
        for setting in SETTINGS {
            let Setting { name, default, example, about, .. } = setting;
            let default = match setting.default_is_a_value() {
                true => String::new(),
                false => format!(" (default: {default})"),
            };
            out.push_str(&format!("\n# {about}{default}\n"));
            match given.get(*name) {
                Some(value) => out.push_str(&format!("{name} = {value}\n")),
                None => out.push_str(&format!("# {name} = {example}\n")),
            }
        }
        Ok(out)
    }
}

fn read_file(path: &Path) -> Result<RawSettings> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the settings in {}", path.display()))?;
    parse(&text).with_context(|| format!("the settings in {} can't be used", path.display()))
}

pub(super) fn parse(text: &str) -> Result<RawSettings> {
    let names: Vec<&str> = SETTINGS.iter().map(|s| s.name).collect();
    let table = text.parse::<Table>()?;
    for (key, value) in &table {
        let Some(setting) = SETTINGS.iter().find(|setting| setting.name == key) else {
            let near = nearest(key, &names).map(|n| format!(" Did you mean {n}?"));
            bail!(
                "there is no setting {key:?}.{}",
                near.unwrap_or_else(|| " josh serve --print-config lists all settings.".into())
            );
        };
        // Each alone: the parser's own message would name Rust types instead of the setting.
        let alone = Table::from_iter([(key.clone(), value.clone())]);
        if alone.try_into::<RawSettings>().is_err() {
            bail!("{key}: must be {}; got {}", (setting.expects)(), shown(value));
        }
    }
    Ok(table.try_into()?)
}

fn shown(value: &Value) -> String {
    match value {
        Value::Table(_) => "a table".into(),
        Value::Array(_) => "a list".into(),
        value => value.to_string(),
    }
}

/// What is said of variables that are none of ours: a warning, since `JOSH_API_KEY` and the like
/// belong to clients.
fn unknown_variables(names: impl Iterator<Item = String>) -> Vec<String> {
    let known: Vec<&str> = SETTINGS.iter().map(|s| s.variable).chain(["JOSH_CONFIG"]).collect();
    let unknown = names.filter(|n| n.starts_with("JOSH_") && !known.contains(&n.as_str()));
    let warn = |name: String| {
        let near = nearest(&name, &known).map(|n| format!(" Did you mean {n}?"));
        format!("{name} is set, but there is no such setting.{}", near.unwrap_or_default())
    };
    unknown.map(warn).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_variable_is_a_warning_with_the_nearest_name() {
        let warnings = |name: &str| unknown_variables([name.to_string()].into_iter());
        assert!(warnings("JOSH_BUNDLE").is_empty() && warnings("HOME").is_empty());
        assert!(warnings("JOSH_BUNDEL")[0].contains("JOSH_BUNDLE?"));
        assert_eq!(warnings("JOSH_API_KEY").len(), 1);
    }

    #[test]
    fn an_unknown_key_of_the_file_is_an_error_with_the_nearest_name() {
        assert!(parse("listen = '127.0.0.1:0'\nworkers = 2\nmcp_sessions = true").is_ok());
        assert!(parse("lisen = '127.0.0.1:0'").unwrap_err().to_string().contains("listen?"));
        assert!(parse("[listen]\nport = 1").is_err());
    }

    /// Given values of the wrong type, when the file is read, then the message says which setting,
    /// what it accepts and what it got, and no Rust type.
    #[test]
    fn a_value_of_the_wrong_type_is_explained_in_plain_words() {
        for (toml, message) in [
            ("rate = 'abc'", "rate: must be an integer from 0 to 4294967295; got \"abc\""),
            ("rate = -1", "rate: must be an integer from 0 to 4294967295; got -1"),
            ("workers = '2'", "workers: must be an integer of at least 0; got \"2\""),
            ("queue_ms = 1.5", "queue_ms: must be an integer of at least 0; got 1.5"),
            ("listen = 8080", "listen: must be a text in quotes; got 8080"),
            ("bundle = true", "bundle: must be a path in quotes; got true"),
            ("mcp_sessions = 'yes'", "mcp_sessions: must be true or false; got \"yes\""),
            ("tls = 'on'", "tls: must be \"self-signed\"; got \"on\""),
            (
                "auth = 'basic'",
                "auth: must be \"disabled\" or \"keys\" or \"oauth\"; got \"basic\"",
            ),
            ("[listen]\nport = 1", "listen: must be a text in quotes; got a table"),
        ] {
            assert_eq!(parse(toml).unwrap_err().to_string(), message, "{toml}");
        }
    }

    /// The printed file with every commented setting switched on.
    fn uncommented(printed: &str) -> String {
        let is_setting = |line: &str| {
            let name = line.split(" = ").next().unwrap_or_default();
            line.contains(" = ") && SETTINGS.iter().any(|setting| setting.name == name)
        };
        let lines = printed.lines().map(|line| match line.strip_prefix("# ") {
            Some(rest) if is_setting(rest) => rest,
            _ => line,
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Given the printed defaults, when every line is uncommented, then the file is valid, names
    /// every setting, and each value is one that the setting accepts.
    #[test]
    fn every_printed_setting_can_be_uncommented() {
        let printed = RawSettings::default().as_file().unwrap();
        assert!(parse(&printed).unwrap().as_file().unwrap() == printed, "all are commented out");
        let text = uncommented(&printed);
        let table: Table = text.parse().unwrap();
        assert!(SETTINGS.iter().all(|s| table.contains_key(s.name)), "{text}");
        let mut all = parse(&text).unwrap();
        // These examples exclude each other or need another setting than the default.
        all.tls = None;
        all.auth = Some(crate::settings::Auth::Oauth);
        all.rate = Some(20);
        all.forms = Some(crate::settings::FormsMode::Describe);
        all.toolsets = Some("all".into());
        all.resolve().unwrap();
    }

    /// Given a printed default that is a value, when it is set, then nothing changes.
    #[test]
    fn printed_defaults_are_the_defaults() {
        let plain = format!("{:?}", parse("").unwrap().resolve().unwrap());
        for setting in SETTINGS.iter().filter(|setting| setting.default_is_a_value()) {
            let set = parse(&format!("{} = {}", setting.name, setting.example)).unwrap();
            assert_eq!(format!("{:?}", set.resolve().unwrap()), plain, "{}", setting.name);
        }
    }

    #[test]
    fn a_printed_file_holds_the_same_settings() {
        let given =
            parse("listen = '127.0.0.1:0'\nrate = 5\ntls = 'self-signed'\nmcp_sessions = true")
                .unwrap();
        let printed = given.as_file().unwrap();
        let again = parse(&printed).unwrap();
        assert_eq!(again.as_file().unwrap(), printed);
        assert!(
            printed.contains("\nrate = 5\n")
                && printed.contains("\n# Worker threads (default: one per core)\n# workers = 4\n"),
            "{printed}"
        );
        assert!(SETTINGS.iter().all(|s| printed.contains(s.about)));
    }
}
