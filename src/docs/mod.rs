//! The pages of `docs/` that are made from the code: settings, errors and the API reference. It
//! reads declarations only; a test compares each page with the committed file.

mod reference;
mod tools;

use crate::api::Code;
use crate::bundle::Bundle;
use crate::settings::SETTINGS;
use crate::toolsets::{CAPABILITIES, Toolsets};

/// Stands at the top of every generated page.
const GENERATED: &str = "<!-- Generated from the code. To update it: UPDATE_DOCS=1 cargo test \
                         --release --test josh generated -->\n";

/// Longer lists of names are cut to the first few.
const MOST_NAMES: usize = 6;
const SHOWN_NAMES: usize = 3;

/// Every generated page with its file name, over this bundle.
pub fn pages(bundle: &Bundle) -> Vec<(&'static str, String)> {
    vec![
        ("settings.md", settings()),
        ("errors.md", errors()),
        ("api.md", reference::page(bundle, &Toolsets::of(CAPABILITIES))),
    ]
}

fn settings() -> String {
    let mut page = format!(
        "{GENERATED}\n\
         # Settings of `josh serve`\n\n\
         A setting can be given as a flag, as an environment variable, or as a key of the TOML \
         file that\n`--config` (`JOSH_CONFIG`) names. A flag overrides the variable, the variable \
         the file, the file the\ndefault. Unknown names are errors. `josh serve --print-config` \
         prints a file with every setting\nexplained. [operations.md](operations.md) says how the \
         settings work together.\n\n\
         | flag, variable, key | what it does | default |\n|---|---|---|\n"
    );
    for setting in SETTINGS {
        let (name, variable) = (setting.name, setting.variable);
        let flag = name.replace('_', "-");
        let default = match setting.default_is_a_value() {
            true => format!("`{}`", setting.default),
            false => setting.default.to_string(),
        };
        let about = cell(setting.about);
        page.push_str(&format!("| `--{flag}` `{variable}` `{name}` | {about} | {default} |\n"));
    }
    page
}

fn errors() -> String {
    let mut page = format!(
        "{GENERATED}\n\
         # Errors\n\n\
         Every error has the same envelope:\n\n\
         ```text\n\
         {{\"error\": {{\"type\", \"code\", \"message\", \"request_id\", \"retryable\", \
         \"field\"?, \"hint\"?}}}}\n\
         ```\n\n\
         `message` says what is wrong, `field` names the parameter, and `hint` says what to do: \
         `next` in\nwords, and where it applies `did_you_mean`, `valid`, `covers`, \
         `suggest_narrowing` or\n`retry_after_seconds`. An MCP tool returns the same as a result \
         with `isError`: message, code and\nrequest ID as text, the rest in `_meta`.\n\n\
         | code | status | type | retry helps | what to do |\n|---|---|---|---|---|\n"
    );
    for code in Code::ALL {
        let retry = if code.retryable() { "yes" } else { "no" };
        page.push_str(&format!(
            "| `{}` | {} | `{}` | {retry} | {} |\n",
            code.as_str(),
            code.status(),
            code.kind(),
            cell(code.about())
        ));
    }
    page
}

/// Text for a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// The names, or the first few of many.
fn some(names: &[&str]) -> String {
    let quoted = |names: &[&str]| -> String {
        names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    };
    match names.len() {
        n if n <= MOST_NAMES => quoted(names),
        n => format!("{}, … ({n} in the sample)", quoted(&names[..SHOWN_NAMES])),
    }
}
