//! `josh get`: the application in process, one request, its body on standard output.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use actix_web::http::Uri;
use actix_web::test::{TestRequest, call_service, init_service, read_body};
use actix_web::web;
use anyhow::Result;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use super::{Unusable, open};
use crate::bundle::Engine;
use crate::gate::Load;
use crate::mcp::Options;
use crate::query::Limits;
use crate::service::Josh;
use crate::settings::LogFormat;
use crate::{http, telemetry};

/// What a person types and a URI can't hold: spaces, quotes, letters beyond ASCII. What is encoded already stays as it is.
const TYPED: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'`').add(b'{').add(b'}').add(b'|').add(b'\\').add(b'^');

pub fn run(path: &str, bundle: Option<&Path>) -> Result<ExitCode> {
    let path = &utf8_percent_encode(path, TYPED).to_string();
    if !path.starts_with('/') || path.parse::<Uri>().is_err() {
        let message = format!("{path:?} is not a path: give one like '/v1/bills?limit=3'");
        return Err(Unusable(message).into());
    }
    let _log = telemetry::start("warn", LogFormat::Text)?;
    let josh = web::Data::new(Josh::new(open(bundle, Engine::default())?, Limits::default(), Load::default()));
    let (status, body) = actix_web::rt::System::new().block_on(async {
        // actix's in-process service: the whole application, without a socket.
        let mcp = http::mcp_service(josh.clone().into_inner(), &Options::default());
        let app = init_service(http::app(josh, web::Data::new(http::Door::default()), mcp, false)).await;
        let response = call_service(&app, TestRequest::get().uri(path).to_request()).await;
        (response.status(), read_body(response).await)
    });
    let mut out = std::io::stdout().lock();
    out.write_all(&body)?;
    out.flush()?;
    Ok(if status.is_success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
