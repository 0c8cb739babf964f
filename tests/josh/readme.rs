//! The README can't rot: its requests are sent and its answers compared, its settings are the settings.

use serde_json::Value;

use crate::support::{SAMPLE, edition, josh, sample};

const README: &str = include_str!("../../README.md");

/// The fenced blocks of a language, in order.
fn blocks(language: &str) -> Vec<&'static str> {
    let mut found = Vec::new();
    let mut rest = README;
    while let Some(at) = rest.find(&format!("```{language}\n")) {
        let body = &rest[at + language.len() + 4..];
        let end = body.find("```").expect("a closed block");
        found.push(&body[..end]);
        rest = &body[end + 3..];
    }
    found
}

/// Whether everything the README shows is in the real answer; it may leave things out.
fn shows(shown: &Value, real: &Value) -> bool {
    match (shown, real) {
        (Value::Object(shown), Value::Object(real)) => {
            shown.iter().all(|(key, value)| real.get(key).is_some_and(|r| shows(value, r)))
        }
        (Value::Array(shown), Value::Array(real)) => shown.iter().all(|s| real.iter().any(|r| shows(s, r))),
        (shown, real) => shown == real,
    }
}

#[test]
fn the_requests_of_the_readme_get_the_answers_that_it_shows() {
    let requests: Vec<&str> = blocks("sh")
        .iter()
        .flat_map(|b| b.lines())
        .filter_map(|l| l.strip_prefix("curl '127.0.0.1:8080").map(|rest| rest.trim_end_matches('\'')))
        .collect();
    let answers = blocks("json");
    assert!(requests.len() >= 5 && requests.len() == answers.len(), "{requests:?}");
    for (request, shown) in requests.iter().zip(answers) {
        let answer = SAMPLE.get(request);
        let shown: Value = serde_json::from_str(shown).unwrap_or_else(|e| panic!("{request}: {e}"));
        assert!(shows(&shown, &answer.json()), "{request} answers\n{}", answer.text());
    }
}

/// Given the bundles that the README speaks of, when its `josh` commands are run one after the other, then each of them works.
#[test]
fn the_commands_of_the_readme_work() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(sample(), folder.path().join("federal.db")).unwrap();
    edition(folder.path(), "old.db", "old");
    let mut ran = 0;
    for line in blocks("sh").iter().flat_map(|b| b.lines()) {
        let command = line.split('#').next().unwrap_or_default().trim();
        let Some(words) = command.strip_prefix("josh ") else { continue };
        let args: Vec<&str> = words.split_whitespace().map(|w| w.trim_matches('\'')).collect();
        // A server has tests of its own.
        if args[0] == "serve" {
            continue;
        }
        let output = josh(&args).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        ran += 1;
    }
    assert!(ran >= 6);
    assert!(README.contains("cargo run --release -- serve") && README.contains("cargo test --release --workspace"));
}

/// The README's table of settings, made from the settings.
#[test]
fn the_table_of_settings_is_the_one_that_the_code_gives() {
    let mut table = String::from("| flag, variable, key of the file | what | default |\n|---|---|---|\n");
    for josh::settings::Setting { name, variable, default, about } in josh::settings::SETTINGS {
        let flag = name.replace('_', "-");
        table += &format!("| `--{flag}` `{variable}` `{name}` | {about} | {default} |\n");
    }
    assert!(README.contains(&table), "the README's table should be:\n{table}");
}

#[test]
fn the_table_of_errors_is_the_one_that_the_code_gives() {
    let mut table = String::from("| code | status | what to do |\n|---|---|---|\n");
    for code in josh::error::Code::ALL {
        table += &format!("| `{}` | {} | {} |\n", code.as_str(), code.status(), code.about());
    }
    assert!(README.contains(&table), "the README's table should be:\n{table}");
}
