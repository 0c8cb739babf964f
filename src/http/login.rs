//! Signing in: a browser can't send `Authorization` while it navigates, so an API key or token is
//! taken once and a cookie stands for it. The cookie is good for reading pages and `/v1`, never at
//! `/mcp`; the credential behind it is checked again on each request, so that a revoked key is out
//! at once.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderMap};
use actix_web::{HttpRequest, HttpResponse, web};
use maud::html;

use super::access_guard::AccessGuard;
use super::explorer::POLICY;
use super::explorer::layout::Page;
use super::respond;
use crate::access::Refusal;
use crate::api::{Arguments, Error, Result};
use crate::executor::Executor;

pub const LOGIN: &str = "/login";
pub const LOGOUT: &str = "/logout";

/// The prefix makes browsers insist on HTTPS or the machine itself, and on no other host.
const COOKIE: &str = "__Host-josh";
const LASTS: Duration = Duration::from_secs(12 * 3600);
/// Far more people than one server has; the oldest are signed out first.
const MOST_SESSIONS: usize = 10_000;

struct Session {
    credential: String,
    until: Instant,
}

/// Who is signed in. Kept in memory only: a restart signs everyone out.
#[derive(Default)]
pub struct Logins(Mutex<HashMap<String, Session>>);

impl Logins {
    fn all(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a credential under a random name.
    fn begin(&self, credential: &str) -> Result<String> {
        let mut random = [0; 32];
        getrandom::fill(&mut random).map_err(Error::internal)?;
        let name = hex::encode(random);
        let now = Instant::now();
        let mut sessions = self.all();
        sessions.retain(|_, session| session.until > now);
        if sessions.len() >= MOST_SESSIONS {
            let oldest = sessions.iter().min_by_key(|(_, s)| s.until).map(|(name, _)| name.clone());
            oldest.and_then(|name| sessions.remove(&name));
        }
        let session = Session { credential: credential.to_string(), until: now + LASTS };
        sessions.insert(name.clone(), session);
        Ok(name)
    }

    /// The `Authorization` that a request's cookie stands for.
    pub fn authorization(&self, headers: &HeaderMap) -> Option<String> {
        let sessions = self.all();
        let session = sessions.get(cookie(headers)?).filter(|s| s.until > Instant::now())?;
        Some(format!("Bearer {}", session.credential))
    }

    fn end(&self, headers: &HeaderMap) {
        cookie(headers).and_then(|name| self.all().remove(name));
    }
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    let sent = headers.get_all(header::COOKIE).filter_map(|value| value.to_str().ok());
    let mut pairs = sent.flat_map(|value| value.split(';')).filter_map(|pair| pair.split_once('='));
    pairs.find(|(name, _)| name.trim() == COOKIE).map(|(_, value)| value.trim())
}

fn set_cookie(value: &str, seconds: u64) -> String {
    format!("{COOKIE}={value}; Path=/; Max-Age={seconds}; Secure; HttpOnly; SameSite=Strict")
}

/// The form, or what was sent with it.
pub async fn login(
    request: HttpRequest,
    sent: web::Bytes,
    executor: web::Data<Executor>,
    guard: web::Data<AccessGuard>,
) -> HttpResponse {
    let Some(access) = &guard.access else {
        return form(&executor, StatusCode::OK, "This server asks for no key: everything is open.");
    };
    if request.method() != actix_web::http::Method::POST {
        return form(&executor, StatusCode::OK, "");
    }
    let sent = std::str::from_utf8(&sent).unwrap_or_default();
    let key = Arguments::from_query(sent).ok().and_then(|mut a| a.take_one("key").ok().flatten());
    let key = key.unwrap_or_default().trim().to_string();
    match access.identify(&format!("Bearer {key}")).await {
        Ok(_) => match guard.logins.begin(&key) {
            Ok(name) => see_home(&set_cookie(&name, LASTS.as_secs())),
            Err(error) => respond::error(&request, &error),
        },
        Err(Refusal::Invalid(why)) => form(&executor, StatusCode::UNAUTHORIZED, why),
        Err(Refusal::Missing) => form(&executor, StatusCode::UNAUTHORIZED, "The key is missing."),
    }
}

pub async fn logout(request: HttpRequest, guard: web::Data<AccessGuard>) -> HttpResponse {
    guard.logins.end(request.headers());
    see_home(&set_cookie("", 0))
}

fn see_home(cookie: &str) -> HttpResponse {
    HttpResponse::SeeOther()
        .insert_header((header::LOCATION, "/"))
        .insert_header((header::SET_COOKIE, cookie))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .finish()
}

fn form(executor: &Executor, status: StatusCode, said: &str) -> HttpResponse {
    let body = html! {
        h1 { "Sign in" }
        @if !said.is_empty() { p .notice role="alert" { (said) } }
        form .row method="post" action=(LOGIN) {
            div {
                label for="key" { "API key or token" }
                input #key type="password" name="key" required autocomplete="current-password";
            }
            button { "Sign in" }
        }
        form method="post" action=(LOGOUT) { button { "Sign out" } }
        p .soft {
            "A cookie stands for the key for twelve hours, in this browser only, and only for \
             reading. Whoever runs this server gives out keys."
        }
    };
    let page = Page { has_search: true, ..Page::new("Sign in", body) };
    HttpResponse::build(status)
        .content_type("text/html; charset=utf-8")
        .insert_header((header::CONTENT_SECURITY_POLICY, POLICY))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .body(page.render(&executor.bundle()))
}
