//! One error type and one table of codes. A code's status, type, default hint and whether a retry
//! can help are said here and nowhere else; the docs list this table.

use serde_json::{Map, Value, json};

use crate::bundle::{QueryError, Unavailable};
use crate::spelling::nearest;

macro_rules! codes {
    ($(
        $name:ident $text:literal $status:literal $kind:literal $retryable:literal
        $about:literal;
    )+) => {
        /// What went wrong, as a client sees it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Code { $($name),+ }

        impl Code {
            pub const ALL: &[Code] = &[$(Code::$name),+];
            pub const fn as_str(self) -> &'static str { match self { $(Code::$name => $text),+ } }
            pub const fn status(self) -> u16 { match self { $(Code::$name => $status),+ } }
            pub const fn kind(self) -> &'static str { match self { $(Code::$name => $kind),+ } }
            pub const fn retryable(self) -> bool { match self { $(Code::$name => $retryable),+ } }
            /// What to do about it: the docs' text and the default `hint.next`.
            pub const fn about(self) -> &'static str { match self { $(Code::$name => $about),+ } }
        }
    };
}

codes! {
    RecordNotFound "record_not_found" 404 "not_found" false
        "The id is well formed, but this bundle holds no such record. GET /v1/sources says what it \
         covers.";
    UnknownSource "unknown_source" 404 "not_found" false
        "GET /v1/sources lists the sources of this bundle.";
    RouteNotFound "route_not_found" 404 "not_found" false
        "GET /openapi.json lists every route; /docs shows them.";
    MethodNotAllowed "method_not_allowed" 405 "invalid_request" false
        "Use GET or HEAD; POST only where /openapi.json says so.";
    UnrecognizedIdFormat "unrecognized_id_format" 400 "invalid_request" false
        "Write the id in one of the forms of hint.valid_prefixes.";
    InvalidParameter "invalid_parameter" 400 "invalid_request" false
        "See `field` for the parameter and the hint for what it takes.";
    InvalidCursor "invalid_cursor" 400 "invalid_request" false
        "Start again without `cursor`, and pass next_cursor on unchanged with the same parameters.";
    ClientNotFound "client_not_found" 404 "not_found" false
        "GET /v1/clients, or list_clients, lists the clients that are known.";
    ProfileNotFound "profile_not_found" 404 "not_found" false
        "GET /v1/clients/{client_id}/profiles, or list_profiles, lists the profiles of a client.";
    ArtifactNotFound "artifact_not_found" 404 "not_found" false
        "Ask without artifact_id for the latest configuration.";
    InvalidInput "invalid_input" 400 "invalid_request" false
        "See `field` for the argument and the message for what it takes.";
    WizardNotFound "wizard_not_found" 404 "not_found" false
        "GET /v1/forms, or federalrunner_list_wizards, lists the wizards of this server.";
    WizardsOff "wizards_off" 403 "forbidden" false
        "This server describes and plans forms, but does not run this one. Whoever runs it \
         decides, with --forms run and --forms-allow.";
    InvalidUserData "invalid_user_data" 422 "invalid_request" false
        "See hint.validation_errors: each names a place in user_data and the rule. GET \
         /v1/forms/{wizard_id}, or federalrunner_get_wizard_info, gives the schema.";
    WizardPageChanged "wizard_page_changed" 502 "upstream" false
        "The agency's page is not as its description has it, so nothing more was entered. See \
         hint.expected and hint.found; the description has to be brought up to date.";
    WizardFormRefused "wizard_form_refused" 422 "upstream" false
        "The agency's form did not accept the answers. hint.form_says has its own words, if it \
         said any.";
    WizardFieldNotTaken "wizard_field_not_taken" 502 "upstream" false
        "A control did not keep what was entered, or offers no such option. Nothing was submitted \
         on this page.";
    WizardSiteRefused "wizard_site_refused" 502 "upstream" true
        "The agency's site does not answer this machine. Some refuse datacenters and automated \
         browsers: try from another network, or use the form by hand.";
    WizardTimeout "wizard_timeout" 504 "timeout" true
        "The run took too long and was ended. Try again later; --forms-ms gives it more time.";
    BrowserUnavailable "browser_unavailable" 503 "unavailable" false
        "Forms need Chromium on the server: install it (Debian: apt-get install chromium), or name \
         it with --forms-browser. Describing and planning work without it.";
    SourceNotSearchable "source_not_searchable" 400 "invalid_request" false
        "Text search takes sources that carry a text; find names and numbers by listing the \
         source.";
    SourceNotSearchableSemantically "source_not_searchable_semantically" 400 "invalid_request" false
        "Search with mode=lexical, or leave `mode` out.";
    SourceNotResolvable "source_not_resolvable" 400 "invalid_request" false
        "Names are resolved in registries; search texts with /v1/search.";
    AggregateTooBroad "aggregate_too_broad" 422 "invalid_request" false
        "Narrow the question by one of the fields of hint.suggest_narrowing.";
    AggregateTimeout "aggregate_timeout" 504 "timeout" true
        "Narrow the question by one of the fields of hint.suggest_narrowing, or ask again when the \
         server is less busy.";
    Unauthorized "unauthorized" 401 "unauthorized" false
        "Send `Authorization: Bearer` with an API key from whoever runs this server, or a token of \
         the server that /.well-known/oauth-protected-resource names.";
    InsufficientScope "insufficient_scope" 403 "forbidden" false
        "Get a key or token with the scope of hint.scope.";
    RateLimited "rate_limited" 429 "rate_limited" true
        "Wait as long as Retry-After says.";
    Overloaded "overloaded" 503 "unavailable" true
        "Wait as long as Retry-After says, and ask for less at once.";
    RequestTimeout "request_timeout" 408 "timeout" true
        "Send the request again, without pauses.";
    AnswerTimeout "answer_timeout" 504 "timeout" true
        "Narrow the question by a filter, or ask again when the server is less busy.";
    UriTooLong "uri_too_long" 414 "invalid_request" false
        "Ask for fewer things at once; a filter takes at most what fits in 8 KB.";
    HeadersTooLarge "headers_too_large" 431 "invalid_request" false
        "Send fewer or shorter headers.";
    PayloadTooLarge "payload_too_large" 413 "invalid_request" false
        "Send less, or nothing where no body is needed.";
    BundleUnavailable "bundle_unavailable" 503 "unavailable" true
        "The bundle file was changed in place. Put a whole bundle there by renaming; Josh then \
         loads it by itself.";
    SignatureError "signature_error" 500 "internal" false
        "The file that was kept is not what was signed. Ask without artifact_id for the latest \
         configuration, and tell whoever runs this server.";
    InternalError "internal_error" 500 "internal" true
        "Report the request id to whoever runs this server; its log has the cause.";
}

/// An error on its way to a client. `Display` gives the message only.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    pub code: Code,
    pub message: String,
    pub field: Option<String>,
    /// Boxed: errors travel in every `Result`.
    pub hint: Box<Map<String, Value>>,
    /// What really happened, for the log only.
    pub cause: Option<String>,
    /// `WWW-Authenticate`: how to become known.
    pub challenge: Option<String>,
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Error {
            code,
            message: message.into(),
            field: None,
            hint: Box::default(),
            cause: None,
            challenge: None,
        }
    }

    pub fn invalid(field: impl Into<String>, message: impl Into<String>) -> Self {
        let mut error = Error::new(Code::InvalidParameter, message);
        error.field = Some(field.into());
        error
    }

    /// An argument of an operation on clients that can't be used.
    pub fn invalid_input(field: &str, message: impl Into<String>) -> Self {
        let mut error = Error::new(Code::InvalidInput, message);
        error.field = Some(field.to_string());
        error
    }

    /// Nobody waits for the answer any more.
    pub fn cancelled() -> Self {
        Error::new(Code::AnswerTimeout, "The call was cancelled.")
    }

    /// Something that is our fault. Its cause goes to the log with the request's id, never to the
    /// client.
    pub fn internal(cause: impl std::fmt::Display) -> Self {
        let mut error = Error::new(Code::InternalError, "Something went wrong inside Josh.");
        error.cause = Some(cause.to_string());
        error
    }

    pub fn hint(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.hint.insert(key.to_string(), value.into());
        self
    }

    pub fn challenge(mut self, challenge: String) -> Self {
        self.challenge = Some(challenge);
        self
    }

    /// How many seconds to wait, in the hint and in `Retry-After`.
    pub fn retry_after(self, seconds: u64) -> Self {
        self.hint("retry_after_seconds", seconds)
    }

    /// Adds `hint.did_you_mean` when one of `valid` is close to `given`, and `hint.valid` with
    /// them all.
    pub fn suggest<'a>(self, given: &str, valid: impl IntoIterator<Item = &'a str>) -> Self {
        let valid: Vec<&str> = valid.into_iter().collect();
        let error = match nearest(given, &valid) {
            Some(near) => self.hint("did_you_mean", near),
            None => self,
        };
        error.hint("valid", valid)
    }

    /// The envelope of every error answer.
    pub fn envelope(&self, request_id: &str) -> Value {
        let mut body = json!({
            "type": self.code.kind(),
            "code": self.code.as_str(),
            "message": self.message,
            "request_id": request_id,
            "retryable": self.code.retryable(),
        });
        if let Some(field) = &self.field {
            body["field"] = json!(field);
        }
        let mut hint = (*self.hint).clone();
        hint.entry("next").or_insert_with(|| json!(self.code.about()));
        body["hint"] = Value::Object(hint);
        json!({ "error": body })
    }
}

impl From<Unavailable> for Error {
    fn from(unavailable: Unavailable) -> Error {
        let error = Error::new(Code::BundleUnavailable, unavailable.message).retry_after(5);
        Error { cause: unavailable.cause, ..error }
    }
}

impl From<QueryError> for Error {
    fn from(error: QueryError) -> Error {
        match error {
            QueryError::Cancelled => Error::cancelled(),
            QueryError::TimedOut => {
                Error::new(Code::AnswerTimeout, "The query took too long and was stopped.")
            }
            QueryError::Failed(cause) => Error::internal(cause),
        }
    }
}
