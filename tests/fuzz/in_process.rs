//! The application in process, as `josh get` runs it: libFuzzer sees which of its code a request
//! reaches. The tests send the same requests to the real binary.

use actix_http::Request;
use actix_service::{IntoServiceFactory, Service, ServiceFactory};
use actix_web::body::to_bytes;
use actix_web::dev::AppConfig;
use actix_web::http::Uri;
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::test::TestRequest;
use actix_web::web::{Bytes, Data};
use josh::api::Budget;
use josh::bundle::Bundle;
use josh::executor::Executor;
use josh::http::{self, AccessGuard, AppParts};
use josh::limits::ConcurrencySettings;
use josh::mcp::Options;
use josh::toolsets::Toolsets;
use serde_json::Value;

use crate::requests::parts;

type Application = Box<dyn Fn(Request) -> (u16, Bytes)>;

fn application() -> Application {
    let bundle = Bundle::open(&crate::sample()).unwrap();
    let limits = ConcurrencySettings::default();
    let executor = Executor::new(bundle, Toolsets::default(), Budget::default(), limits).unwrap();
    let guard = Data::new(AccessGuard::default());
    let parts = AppParts::new(Data::new(executor), guard, &Options::default());
    let system = actix_web::rt::System::new();
    let service = http::app(parts).into_factory().new_service(AppConfig::default());
    let service = system.block_on(service).unwrap();
    Box::new(move |request| {
        system.block_on(async {
            let response = service.call(request).await.unwrap();
            let status = response.status().as_u16();
            (status, to_bytes(response.into_body()).await.unwrap_or_default())
        })
    })
}

fn answer(request: TestRequest) -> (u16, Bytes) {
    thread_local! {
        // Never dropped: actix needs other thread-local values for that, which are gone at the end.
        static APPLICATION: &'static Application = Box::leak(Box::new(application()));
    }
    APPLICATION.with(|application| application(request.to_request()))
}

/// A path with its query string.
pub fn get(input: &[u8]) {
    let Some(uri) = std::str::from_utf8(input).ok().filter(|path| path.starts_with('/')) else {
        return;
    };
    if uri.parse::<Uri>().is_err() {
        return;
    }
    let (status, body) = answer(TestRequest::with_uri(uri));
    assert!(status < 500, "{status} {}", String::from_utf8_lossy(&body));
}

/// Header lines, an empty line and a message.
pub fn post(input: &[u8]) {
    let (head, body) = parts(input);
    let mut request = TestRequest::post().uri("/mcp").insert_header(("host", "localhost"));
    for line in head.split(|byte| *byte == b'\n') {
        let end = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let name = HeaderName::from_bytes(&line[..end]);
        let value = HeaderValue::from_bytes(line.get(end + 1..).unwrap_or_default().trim_ascii());
        if let (Ok(name), Ok(value)) = (name, value) {
            request = request.insert_header((name, value));
        }
    }
    let (status, body) = answer(request.set_payload(body.to_vec()));
    let shown = String::from_utf8_lossy(&body);
    assert!(status < 500, "{status} {shown}");
    let json: Value = serde_json::from_slice(&body).unwrap_or_default();
    assert_ne!(json["error"]["code"], -32603, "{shown}");
    assert_ne!(json["result"]["_meta"]["error_code"], "internal_error", "{shown}");
}
