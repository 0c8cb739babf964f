//! A site of our own with the ids of the shipped wizards, over TLS. Chromium is told to find the
//! agencies' hosts here, so that the shipped files run as they are. The site records what it
//! received: tests compare that. Its numbers mean nothing.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base64::Engine;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use sha2::Digest;

const SSA: &str = include_str!("../forms/site/ssa.html");
const FSA: &str = include_str!("../forms/site/fsa.html");
const IRS: &str = include_str!("../forms/site/irs.html");
const LOANS: &str = include_str!("../forms/site/loans.html");

/// So many seconds, or more where the machine has other work: FORMS_PATIENCE multiplies them.
pub fn seconds(number: u64) -> Duration {
    let patience = std::env::var("FORMS_PATIENCE").ok().and_then(|times| times.parse().ok());
    Duration::from_secs(number * patience.unwrap_or(1))
}

/// Waits until `test` holds: half a minute, or more where the machine has other work.
pub fn in_time(what: &str, mut test: impl FnMut() -> bool) {
    let end = Instant::now() + seconds(30);
    while !test() {
        assert!(Instant::now() < end, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The browser that Josh finds here.
pub fn chromium() -> PathBuf {
    let options = josh::wizard::Options::new(josh::wizard::Mode::Run);
    josh::wizard::browser::find(&options).expect("these tests need Chromium")
}

/// A program that stands in for the browser, or before it.
pub fn script(folder: &Path, name: &str, lines: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

pub type Fields = BTreeMap<String, String>;

/// How the site misbehaves: `drift`, `slow`, `refuse`, `leak`, `dialog`, `wrong_option` …
type Switches = BTreeMap<&'static str, String>;

#[derive(Default)]
struct State {
    switches: Switches,
    /// What is known of the run that goes on, and of those that ended.
    current: Fields,
    received: Vec<Fields>,
    requests: usize,
}

pub struct Site {
    pub address: SocketAddr,
    pub key: String,
    state: Arc<Mutex<State>>,
}

impl Site {
    pub fn start() -> Site {
        let pair = rcgen::KeyPair::generate().unwrap();
        let hosts = ["www.ssa.gov", "studentaid.gov", "apps.irs.gov", "loans.example.gov"];
        let params = rcgen::CertificateParams::new(hosts.map(String::from).to_vec()).unwrap();
        let chain = params.self_signed(&pair).unwrap();
        let chain = CertificateDer::from_pem_slice(chain.pem().as_bytes()).unwrap();
        let key = PrivateKeyDer::from_pem_slice(pair.serialize_pem().as_bytes()).unwrap();
        let public = rcgen::PublicKeyData::subject_public_key_info(&pair);
        let hash = sha2::Sha256::digest(public);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![chain], key)
            .unwrap();
        let config = Arc::new(config);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let site = Site {
            address: listener.local_addr().unwrap(),
            key: base64::engine::general_purpose::STANDARD.encode(hash),
            state: Arc::default(),
        };
        let state = site.state.clone();
        std::thread::spawn(move || {
            // On other machines, in real life: it takes no core from searches either.
            set_priority();
            for stream in listener.incoming().flatten() {
                let (state, config) = (state.clone(), config.clone());
                std::thread::spawn(move || serve(stream, config, &state));
            }
        });
        site
    }

    /// As `--forms-test-site` takes it.
    pub fn setting(&self) -> String {
        format!("{}#{}", self.address, self.key)
    }

    pub fn options(&self) -> josh::wizard::Options {
        josh::wizard::Options {
            test_site: josh::wizard::TestSite::read(&self.setting()),
            no_sandbox: true,
            per_hour: 0,
            ..josh::wizard::Options::new(josh::wizard::Mode::Run)
        }
    }

    pub fn switch(&self, name: &'static str, value: impl Into<String>) {
        self.state.lock().unwrap().switches.insert(name, value.into());
    }

    pub fn without_switches(&self) {
        self.state.lock().unwrap().switches.clear();
    }

    /// What was received since the last time.
    pub fn take(&self) -> Vec<Fields> {
        std::mem::take(&mut self.state.lock().unwrap().received)
    }

    pub fn requests(&self) -> usize {
        self.state.lock().unwrap().requests
    }
}

/// Threads that this one starts have the same.
fn set_priority() {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: takes numbers and a structure that is read.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &parameters) };
}

fn serve(stream: TcpStream, config: Arc<rustls::ServerConfig>, state: &Mutex<State>) {
    let is_reset = state.lock().unwrap().switches.get("refuse").is_some_and(|how| how == "reset");
    if is_reset {
        return;
    }
    let _ = stream.set_read_timeout(Some(Duration::from_secs(20)));
    let Ok(tls) = rustls::ServerConnection::new(config) else { return };
    let mut reader = BufReader::new(rustls::StreamOwned::new(tls, stream));
    // A browser keeps connections; so does the site.
    while let Some((method, path, body)) = read(&mut reader) {
        let (status, kind, body) = answer(&method, &path, &body, state);
        let mut head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n", body.len());
        head.push_str(&match kind.strip_prefix("to ") {
            Some(place) => format!("Location: {place}\r\n\r\n"),
            None => format!("Content-Type: {kind}\r\n\r\n"),
        });
        let stream = reader.get_mut();
        if stream
            .write_all(format!("{head}{body}").as_bytes())
            .and_then(|()| stream.flush())
            .is_err()
        {
            return;
        }
    }
}

fn read(reader: &mut impl BufRead) -> Option<(String, String, String)> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_string(), words.next()?.to_string());
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        if header.trim().is_empty() {
            break;
        }
        if let Some(value) = header.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((method, path, String::from_utf8(body).ok()?))
}

const HTML: &str = "text/html; charset=utf-8";
type Answer = (&'static str, String, String);

fn html(body: String) -> Answer {
    ("200 OK", HTML.into(), body)
}

fn to(place: &str) -> Answer {
    ("303 See Other", format!("to {place}"), String::new())
}

fn decoded(body: &str) -> Fields {
    let decode = |text: &str| {
        let text = text.replace('+', " ");
        percent_encoding::percent_decode_str(&text).decode_utf8().unwrap().into_owned()
    };
    let pairs = body.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (decode(name), decode(value))).collect()
}

fn answer(method: &str, path: &str, body: &str, state: &Mutex<State>) -> Answer {
    let switches = {
        let mut state = state.lock().unwrap();
        state.requests += 1;
        state.switches.clone()
    };
    let on = |name: &str, value: &str| switches.get(name).is_some_and(|known| known == value);
    if let Some(ms) = switches.get("slow") {
        std::thread::sleep(Duration::from_millis(ms.parse().unwrap()));
    }
    if on("refuse", "403") {
        return ("403 Forbidden", HTML.into(), "<h1>Access Denied</h1>".into());
    }
    if on("refuse", "challenge") {
        return html("<h1>Please verify you are human</h1>".into());
    }
    let path = path.split('?').next().unwrap_or(path);
    let mut state = state.lock().unwrap();
    match (method, path) {
        ("GET", "/OACT/quickcalc/") => ssa_form(&switches, ""),
        ("POST", "/cgi-bin/benefit6.cgi") => {
            let fields = decoded(body);
            let answer = ssa_answer(&fields, &switches);
            state.received.push(fields);
            answer
        }
        ("GET", "/aid-estimator/") => {
            state.current.clear();
            let start = "<a href='/aid-estimator/estimate/student-information'>Start Estimate</a>";
            html(format!("<h1>TEST</h1>{start}"))
        }
        (_, path) if path.starts_with("/aid-estimator/") => {
            if method == "POST" {
                state.current.extend(decoded(body));
            }
            let (answer, is_done) = fsa(method, path, &switches);
            if is_done {
                let whole = std::mem::take(&mut state.current);
                state.received.push(whole);
            }
            answer
        }
        ("POST", "/app/tax-withholding-estimator/record") => {
            state.received.push(serde_json::from_str(body).unwrap());
            html(String::new())
        }
        ("GET", path) if path.starts_with("/app/tax-withholding-estimator") => {
            let page = path.rsplit('/').next().unwrap().replace("tax-withholding-estimator", "");
            html(IRS.replace("{{page}}", &page))
        }
        ("GET", "/loans") => html(LOANS.into()),
        ("POST", "/loans/done") => {
            state.received.push(decoded(body));
            html("<p id='total'>TEST 42</p>".into())
        }
        ("GET", "/file.zip") => ("200 OK", "application/zip".into(), "PK".into()),
        _ => ("404 Not Found", HTML.into(), "nothing".into()),
    }
}

fn ssa_form(switches: &Switches, error: &str) -> Answer {
    let drift = switches.get("drift").map(String::as_str).unwrap_or_default();
    let leak = switches.get("leak").map(String::as_str).unwrap_or_default();
    let other = switches.get("other").cloned().unwrap_or_default();
    if leak == "redirect" {
        return to(&format!("http://{other}/redirected"));
    }
    let earnings = |id: &str, name: &str| {
        format!("<p><label for='{id}'>Earnings</label> <input id='{id}' name='{name}'></p>")
    };
    let earnings = match drift {
        "missing" => String::new(),
        "renamed" => earnings("income", "income"),
        _ => earnings("earnings", "earnings"),
    };
    let more = match drift {
        "new_required" => "<p><label for='ssn'>Number</label> <input id='ssn' name='ssn' required>",
        _ => "",
    };
    let top = match (leak, error) {
        ("img", _) => format!("<img src='http://{other}/leak.png'>"),
        (_, "") => String::new(),
        (_, error) => format!("<p class='error'>{error}</p>"),
    };
    let script = match leak {
        "fetch" => format!("fetch('http://{other}/leak')"),
        "ws" => format!("new WebSocket('ws://{other}/leak')"),
        "popup" => format!(
            "document.getElementById('calc').onsubmit = () => {{ open('http://{other}/leak'); }}"
        ),
        _ if switches.contains_key("dialog") => "setTimeout(() => alert('TEST'), 50)".into(),
        _ if switches.contains_key("download") => "location.href = '/file.zip'".into(),
        _ if switches.contains_key("wrong_option") => {
            "document.getElementById('nominal').onclick = () => false".into()
        }
        _ => String::new(),
    };
    let action = match leak {
        "form" => format!("http://{other}/leak"),
        _ => "/cgi-bin/benefit6.cgi".into(),
    };
    let day = if drift == "second" { "birthday" } else { "day" };
    html(
        SSA.replace("{{top}}", &top)
            .replace("{{action}}", &action)
            .replace("{{day_id}}", day)
            .replace("{{earnings}}", &earnings)
            .replace("{{more}}", more)
            .replace("{{script}}", &format!("<script>{script}</script>")),
    )
}

fn ssa_answer(fields: &Fields, switches: &Switches) -> Answer {
    if switches.contains_key("last_refused") {
        let words = format!("The year {} or {} can't be right.", fields["yob"], fields["earnings"]);
        return ssa_form(switches, &words);
    }
    if switches.get("drift").is_some_and(|drift| drift == "extra_page") {
        let sum = &fields["earnings"];
        return html(format!(
            "<title>You earn {sum}</title><label for='surprise'>Why {sum}?</label>\
             <input id='surprise' required>"
        ));
    }
    let sum = fields["earnings"].parse::<f64>().unwrap_or(0.0) as u32;
    if sum == 0 && fields["lastEarn"].is_empty() {
        return html("<p>TEST: the credits are insufficient.</p>".into());
    }
    if !fields["retireyear"].is_empty() {
        let (month, year) = (&fields["retiremonth"], &fields["retireyear"]);
        return html(format!(
            "<table><tr><td id='ret_age'>67 years<td id='ret_date'>{month}/{year}\
             <td id='ret_amount'>$1,{:03}.50</table>",
            sum % 1000
        ));
    }
    html(format!(
        "<table><tr><td id='est_early'>$1,{0:03}.00<td id='est_fra'>$2,{0:03}.00\
         <td id='est_late'>$3,{0:03}.00</table>",
        sum % 1000
    ))
}

/// The seven pages; the last posts the whole.
fn fsa(method: &str, path: &str, switches: &Switches) -> (Answer, bool) {
    const PAGES: [&str; 7] = [
        "student-information",
        "student-information/personal-circumstances",
        "parent-marital-status",
        "parent-information",
        "parent-information/family-size",
        "financial-information/parent-information",
        "financial-information/student-information",
    ];
    let base = "/aid-estimator/estimate/";
    if path == "/aid-estimator/results" {
        let words = "<h1>TEST</h1><p>Your Student Aid Index (SAI)</p><p>-1,500</p>";
        return (html(words.into()), false);
    }
    let here = path.strip_prefix(base).unwrap_or_default();
    let Some(index) = PAGES.iter().position(|page| *page == here) else {
        return (("404 Not Found", HTML.into(), String::new()), false);
    };
    if method == "POST" {
        return match PAGES.get(index + 1) {
            Some(next) => (to(&format!("{base}{next}")), false),
            None => (to("/aid-estimator/results"), true),
        };
    }
    let states = states(switches);
    let body = FSA_BODIES[index];
    let page = FSA.replace("{{title}}", here).replace("{{states}}", &states);
    (html(page.replace("{{body}}", &fsa_controls(body))), false)
}

/// Decoys come first, as in lists that complete what was typed.
fn states(switches: &Switches) -> String {
    let file = include_str!("../../assets/wizards/fsa-estimator.json");
    let file: serde_json::Value = serde_json::from_str(file).unwrap();
    let values = file["schema"]["properties"]["state"]["enum"].as_array().unwrap().iter();
    let mut states: Vec<String> = values.map(|v| v.as_str().unwrap().to_string()).collect();
    states.reverse();
    states.insert(0, "Kansas City".into());
    states.insert(0, "North Virginia".into());
    if switches.contains_key("no_option") {
        states.retain(|state| state != "Virginia");
    }
    serde_json::to_string(&states).unwrap()
}

/// Controls of the pages: kind, id, name, value, and what it shows.
const FSA_BODIES: [&str; 7] = [
    "text Input_DateOfBirthMonth birth_month\ntext Input_DateOfBirthDay birth_day\n\
     text Input_DateOfBirthYear birth_year\n\
     radio Radio_MaritalStatusUnmarried marital_status unmarried\n\
     radio Radio_MaritalStatusMarriedReMarried marital_status married\n\
     search Typeahead_StateOfResidence state\nlate\n\
     radio Radio_CollegeLevelFreshman grade_level freshman\n\
     radio Radio_CollegeLevelSophomore grade_level sophomore\n\
     radio Radio_CollegeLevelOther grade_level other_undergrad\n\
     radio Radio_CollegeLevelGraduate grade_level graduate\nend",
    "radio Radio_HaveDependentsYes has_dependents yes\n\
     radio Radio_HaveDependentsNo has_dependents no shows\nmore\n\
     checkbox Checkbox_none personal_circumstances_none true\nend",
    "radio Radio_parentMaritalInformation-question1-yes parents_married yes\n\
     radio Radio_parentMaritalInformation-question1-no parents_married no",
    "radio Radio_ParenFamilyInfoMarried parent_marital_status married\n\
     radio Radio_ParenFamilyInfoUnmarried parent_marital_status unmarried\n\
     search Typeahead_States parent_state",
    "number Input_NumInHousehold family_size",
    "words 2024\nradio Radio_FamilySizeChangeYes parent_filed_taxes yes shows\n\
     radio Radio_FamilySizeChangeNo parent_filed_taxes no\nmore\n\
     text Input_ParentIncome parent_income\ntext Input_ParentAssets parent_assets\n\
     text Input_ParentChildSupport parent_child_support\nend",
    "words 2024\nradio Radio_StudentFiledYes student_filed_taxes yes\n\
     radio Radio_StudentFiledNo student_filed_taxes no",
];

fn fsa_controls(body: &str) -> String {
    let control = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let shows = if words.last() == Some(&"shows") { " data-shows='more'" } else { "" };
        match words[..] {
            ["late"] => "<div data-late hidden>".into(),
            ["more"] => "<div id='more' hidden>".into(),
            ["end"] => "</div>".into(),
            ["words", year] => format!("<p>Taxes of {year}</p>"),
            ["search", id, name] => format!(
                "<p><label for='fsa_{id}'>{name}</label><input type='search' id='fsa_{id}' \
                 data-for='{name}'><input type='hidden' name='{name}'></p>"
            ),
            [kind, id, name] => {
                format!(
                    "<p><label for='fsa_{id}'>{name}</label><input type='{kind}' \
                         id='fsa_{id}' name='{name}'></p>"
                )
            }
            [kind, id, name, value, ..] => format!(
                "<input type='{kind}' id='fsa_{id}' name='{name}' value='{value}'{shows}>\
                 <label class='card' for='fsa_{id}'>{name} {value}</label>"
            ),
            _ => String::new(),
        }
    };
    body.lines().map(control).collect()
}
