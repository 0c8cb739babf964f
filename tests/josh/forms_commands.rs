//! Section 15 on the command line, with a real browser: verify, inventory, recordings that become
//! wizards, traces, and the browser's sandbox. These tests need Chromium; without it they count as
//! ignored (`tests/forms/run`).

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::forms::ssa;
use crate::forms_life::{browser_processes, browsers};
use crate::forms_runs::alone;
use crate::forms_site::Site;
use crate::support::{CACHE, JOSH, josh};

/// Runs `josh forms …` against the site, with an answer for whatever it asks.
fn forms(site: &Site, arguments: &[&str], answer: &str) -> Output {
    let setting = site.setting();
    let mut all = vec!["forms"];
    all.extend(arguments);
    all.extend(["--forms-no-sandbox", "--forms-test-site", &setting]);
    let mut command = josh(&all);
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    child.stdin.take().unwrap().write_all(answer.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn noted(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn said(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|why| panic!("{why}: {}", noted(output)))
}

fn written(folder: &Path, name: &str, content: &Value) -> String {
    let path = folder.join(name);
    std::fs::write(&path, content.to_string()).unwrap();
    path.to_str().unwrap().to_string()
}

/// [32] as far as a machine can: given a wizard, when it is verified, then its examples are run and
/// compared; a test site proves nothing about the agency's, so nothing is remembered; and a page
/// that changed is said to have.
#[test]
#[ignore = "needs Chromium"]
fn verify_runs_the_examples() {
    let _alone = alone();
    let site = Site::start();
    let fine = forms(&site, &["verify", "ssa-quick-calculator"], "");
    assert!(fine.status.success(), "{}", noted(&fine));
    for outcome in ["three_ages", "one_date"] {
        assert!(noted(&fine).contains(&format!("ssa-quick-calculator: {outcome}")));
    }
    assert_eq!(site.take().len(), 2, "each example was submitted once");
    assert!(!noted(&fine).contains("is verified"), "{}", noted(&fine));
    assert!(!CACHE.path().join("josh/forms-verified.json").exists());
    site.switch("drift", "renamed");
    let changed = forms(&site, &["verify", "ssa-quick-calculator"], "");
    assert_eq!(changed.status.code(), Some(1));
    for words in ["expected the outcome three_ages", "wizard_page_changed on page form", "#income"]
    {
        assert!(noted(&changed).contains(words), "{words}: {}", noted(&changed));
    }
}

/// Given a page, when its inventory is taken, then every control is there with what tells it.
#[test]
#[ignore = "needs Chromium"]
fn inventory_lists_the_controls() {
    let _alone = alone();
    let site = Site::start();
    let listed = forms(&site, &["inventory", "https://www.ssa.gov/OACT/quickcalc/"], "");
    assert!(listed.status.success(), "{}", noted(&listed));
    let controls = said(&listed);
    let ids: Vec<&str> =
        controls.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    let shipped = ["month", "day", "year", "earnings", "lastyear", "lastearnings", "constant"];
    assert!(shipped.iter().all(|id| ids.contains(id)), "{ids:?}");
    let earnings = &controls[ids.iter().position(|id| *id == "earnings").unwrap()];
    assert_eq!((&earnings["tag"], &earnings["name"]), (&json!("input"), &json!("earnings")));
    assert_eq!((&earnings["label"], &earnings["required"]), (&json!("earnings"), &json!(false)));
    let requests = site.requests();
    let refused = forms(&site, &["inventory", "http://www.ssa.gov/"], "");
    assert_eq!(refused.status.code(), Some(1));
    assert!(noted(&refused).contains("Only https"), "{}", noted(&refused));
    assert_eq!(site.requests(), requests);
}

/// Given a recording of Chrome's Recorder, when it is imported, completed, checked and run, then
/// the site received what was given.
#[test]
#[ignore = "needs Chromium"]
fn a_recording_becomes_a_wizard_that_runs() {
    let _alone = alone();
    let site = Site::start();
    let folder = tempfile::tempdir().unwrap();
    let change = |id: &str, value: &str| {
        let find = format!("#{id}");
        json!({ "type": "change", "value": value, "selectors": [[find]] })
    };
    let answer = "https://www.ssa.gov/cgi-bin/benefit6.cgi";
    let recording = json!({ "title": "Recorded", "steps": [
        { "type": "navigate", "url": "https://www.ssa.gov/OACT/quickcalc/" },
        { "type": "click", "selectors": [["#month"]] },
        change("month", "06"), change("day", "15"), change("year", "1980"),
        change("earnings", "75000"),
        { "type": "click", "selectors": [["aria/Submit request[role=\"button\"]"]],
          "assertedEvents": [{ "type": "navigation", "url": answer }] },
    ] });
    let recording = written(folder.path(), "recording", &recording);
    let imported = josh(&["forms", "import", &recording]).output().unwrap();
    let mut file = said(&imported);
    let path = written(folder.path(), "recorded.json", &file);
    let refused = josh(&["forms", "check", &path]).output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert!(noted(&refused).contains("agency: is still to be written"), "{}", noted(&refused));
    file["agency"] = json!("SSA");
    file["effect"] = json!("An estimate.");
    file["outcomes"][0]["at"]["has"] = json!(["td#est_fra"]);
    file["outcomes"][0]["results"]["result"] = json!({ "find": ["td#est_fra"], "as": "dollars" });
    written(folder.path(), "recorded.json", &file);
    let data = json!({ "month": "07", "day": "16", "year": "1981", "earnings": "75123" });
    let data = written(folder.path(), "data", &data);
    let wizards = folder.path().to_str().unwrap();
    let run = ["run", "recorded", "--data", &data, "--forms-dir", wizards];
    let done = forms(&site, &run, "");
    assert!(done.status.success(), "{}", noted(&done));
    assert_eq!(said(&done)["results"]["result"]["value"], 2123.0);
    let got = site.take().remove(0);
    assert_eq!((got["dobmon"].as_str(), got["earnings"].as_str()), ("07", "75123"));
}

/// Given `--save-trace`, when it is not agreed to, then nothing is run; when it is, then only the
/// owner can read what was written.
#[test]
#[ignore = "needs Chromium"]
fn a_trace_is_asked_for_and_private() {
    let _alone = alone();
    let site = Site::start();
    let folder = tempfile::tempdir().unwrap();
    let data = written(folder.path(), "data", &ssa());
    let trace = folder.path().join("trace");
    let run = ["run", "ssa-quick-calculator", "--data", &data, "--save-trace"];
    let run: Vec<&str> = run.into_iter().chain([trace.to_str().unwrap()]).collect();
    let refused = forms(&site, &run, "no\n");
    assert_eq!(refused.status.code(), Some(2), "{}", noted(&refused));
    assert!(!trace.exists() && site.requests() == 0);
    let done = forms(&site, &run, "yes\n");
    assert!(done.status.success(), "{}", noted(&done));
    let names: Vec<_> = std::fs::read_dir(&trace).unwrap().flatten().collect();
    assert_eq!(names.len(), 3, "the trace and two pictures");
    for entry in names {
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    let text = std::fs::read_to_string(trace.join("trace.jsonl")).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let typed = |line: &&Value| line["sent"]["method"] == "Input.insertText";
    assert_eq!(lines.iter().filter(typed).count(), 4);
    assert!(lines.iter().any(|line| line["received"]["method"] == "Network.responseReceived"));
}

/// [16] Given root, when a form is run without the flag, then it is refused rather than run without
/// a sandbox; given another user, then what shows pages is in the sandbox.
#[test]
#[ignore = "needs Chromium"]
fn the_sandbox_is_on_unless_a_setting_says_otherwise() {
    let _alone = alone();
    let site = Site::start();
    site.switch("slow", "2000");
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let data = written(folder.path(), "data.json", &ssa());
    let program = folder.path().join("josh");
    std::fs::copy(JOSH, &program).unwrap();
    let setting = site.setting();
    let command = || {
        let mut command = Command::new(&program);
        command.args(["forms", "run", "ssa-quick-calculator", "--data", &data]);
        command.args(["--forms-test-site", &setting]).env_remove("JOSH_FORMS_NO_SANDBOX");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    let mut other = command();
    // SAFETY: asks for a number.
    if unsafe { libc::geteuid() } == 0 {
        let refused = command().output().unwrap();
        assert_eq!(refused.status.code(), Some(1));
        assert!(noted(&refused).contains("sandbox does not work for root"), "{}", noted(&refused));
        other.uid(65534).gid(65534);
    }
    let mut child = other.spawn().unwrap();
    let (mut filtered, mut apart) = (false, false);
    while child.try_wait().unwrap().is_none() {
        assert!(!browsers(child.id()).iter().any(|line| line.contains("--no-sandbox")));
        for process in browser_processes(child.id()) {
            let read = |name: &str| std::fs::read(process.join(name)).unwrap_or_default();
            let is_renderer = String::from_utf8_lossy(&read("cmdline")).contains("--type=renderer");
            let status = String::from_utf8_lossy(&read("status")).into_owned();
            filtered |= is_renderer && status.contains("Seccomp:\t2");
            let space = |process: &Path| std::fs::read_link(process.join("ns/user")).ok();
            let (own, ours) = (space(&process), space(Path::new("/proc/self")));
            apart |= is_renderer && own.is_some() && own != ours;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let done = child.wait_with_output().unwrap();
    if !done.status.success() && noted(&done).contains("No usable sandbox") {
        eprintln!("SKIPPED: this machine gives browsers no sandbox, and so none was run");
        return;
    }
    assert!(done.status.success(), "{}", noted(&done));
    assert!(filtered, "no renderer had its system calls filtered");
    assert!(apart, "no renderer had a namespace of its own");
}
