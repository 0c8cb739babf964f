//! `josh get`: one request to the application in process, without a socket; prints the body.

use std::path::Path;
use std::process::ExitCode;

use actix_http::Request;
use actix_service::{IntoServiceFactory, Service, ServiceFactory};
use actix_web::body::to_bytes;
use actix_web::dev::AppConfig;
use actix_web::http::{StatusCode, Uri};
use actix_web::web::{Bytes, Data};
use anyhow::{Result, anyhow};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use super::{Unusable, hand_out, open};
use crate::api::Budget;
use crate::bundle::OpenOptions;
use crate::client_config;
use crate::executor::Executor;
use crate::http::{AccessGuard, AppParts};
use crate::limits::ConcurrencySettings;
use crate::mcp::Options;
use crate::settings::LogFormat;
use crate::toolsets::Toolsets;
use crate::wizard::{self, Forms, Mode};
use crate::{http, output, telemetry};

/// What people type and a URI can't hold: spaces, quotes, letters beyond ASCII. What is already
/// encoded stays as it is.
const TYPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'`')
    .add(b'{')
    .add(b'}')
    .add(b'|')
    .add(b'\\')
    .add(b'^');

pub fn run(path: &str, bundle: Option<&Path>, toolsets: Toolsets) -> Result<ExitCode> {
    let path = utf8_percent_encode(path, TYPED).to_string();
    let uri = path.parse::<Uri>().ok().filter(|_| path.starts_with('/'));
    let uri = uri.ok_or_else(|| {
        Unusable(format!("{path:?} is not a path: give one like '/v1/bills?limit=3'"))
    })?;
    let _log = telemetry::start("warn", LogFormat::Text, None, false)?;
    let bundle = open(bundle, OpenOptions::default())?;
    let limits = ConcurrencySettings::default();
    // Without a server nobody runs a form here; describing one needs nothing.
    let forms = toolsets.has_forms().then(|| Forms::open(wizard::Options::new(Mode::Describe)));
    let forms = forms.transpose().map_err(Unusable)?;
    let executor = Executor::with_forms(bundle, toolsets, Budget::default(), limits, forms)?;
    hand_out(&executor, &client_config::Options::default(), None)?;
    let guard = Data::new(AccessGuard::default());
    let parts = AppParts::new(Data::new(executor), guard, &Options::default());
    let (status, body) = actix_web::rt::System::new().block_on(answer(parts, uri))?;
    output::bytes(&body);
    Ok(if status.is_success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs the request through the same application that `serve` runs on sockets.
async fn answer(parts: AppParts, uri: Uri) -> Result<(StatusCode, Bytes)> {
    let service = http::app(parts).into_factory().new_service(AppConfig::default()).await;
    let service = service.map_err(|()| anyhow!("the application did not start"))?;
    let mut request = Request::new();
    *request.uri_mut() = uri;
    let response = service.call(request).await.map_err(|error| anyhow!("{error}"))?;
    let status = response.status();
    let body = to_bytes(response.into_body()).await;
    Ok((status, body.map_err(|error| anyhow!("{}", error.into()))?))
}
