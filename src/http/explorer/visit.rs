//! One request for a page: who asks, for what, and how pages call operations. A page calls them as
//! REST does, by path and parameters, so that access, limits and cancellation are the same.

use std::sync::Arc;

use actix_web::{HttpMessage, HttpRequest, web};
use serde_json::{Map, Value};

use super::address::Query;
use crate::api::argument::WHOLE_PAGE;
use crate::api::{Arguments, CallerInfo, Error, Notes, Operation, Resource, Result};
use crate::bundle::Bundle;
use crate::executor::Executor;
use crate::http::Router;
use crate::http::front::RequestInfo;

pub struct Visit<'a> {
    executor: &'a Executor,
    router: &'a Router,
    caller: CallerInfo,
    pub bundle: Arc<Bundle>,
    /// The path as it was sent, percent-encoded.
    pub path: String,
    pub query: Query,
}

/// What an operation gave back.
pub struct Answer {
    pub value: Map<String, Value>,
    pub notes: Notes,
}

impl Answer {
    /// The items of a list.
    pub fn items(&self) -> &[Value] {
        let items = self.value.get("data").or_else(|| self.value.get("results"));
        items.and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    pub fn total(&self) -> u64 {
        self.value.get("total").and_then(Value::as_u64).unwrap_or_default()
    }

    pub fn next_cursor(&self) -> Option<&str> {
        self.value.get("next_cursor").and_then(Value::as_str)
    }
}

impl<'a> Visit<'a> {
    pub fn new(
        request: &'a HttpRequest,
        executor: &'a Executor,
        bundle: Arc<Bundle>,
    ) -> Result<Visit<'a>> {
        let router = request.app_data::<web::Data<Router>>();
        let router = router.ok_or_else(|| Error::internal("an application without a router"))?;
        let extensions = request.extensions();
        let info = extensions.get::<RequestInfo>();
        let info = info.ok_or_else(|| Error::internal("a request without its facts"))?;
        info.route.set("pages");
        let query = Query::read(&Arguments::from_request(request.query_string())?);
        let path = request.uri().path();
        let path = path.strip_suffix('/').unwrap_or(path).to_string();
        Ok(Visit { executor, router, caller: info.caller.clone(), bundle, path, query })
    }

    /// The operation behind this page, and its arguments with the variables of the path.
    pub fn operation(&self) -> Result<(&'static Operation, Arguments)> {
        self.router.find(&format!("/v1{}", self.path), self.query.arguments())
    }

    /// Calls the operation at a path of REST, given without `/v1`.
    pub async fn call(&self, path: &str, query: &Query) -> Result<Answer> {
        self.run(path, query.arguments()).await
    }

    /// The same for a list, of which up to `most` items are wanted at once.
    pub async fn call_whole(&self, path: &str, query: &Query, most: usize) -> Result<Answer> {
        let mut arguments = query.without(&["limit"]).arguments();
        arguments.push_one(WHOLE_PAGE, most.to_string());
        self.run(path, arguments).await
    }

    async fn run(&self, path: &str, arguments: Arguments) -> Result<Answer> {
        let (operation, arguments) = self.router.find(&format!("/v1{path}"), arguments)?;
        let context = self.executor.context(self.bundle.clone(), self.caller.clone());
        let outcome = self.executor.execute(operation, arguments, context).await?;
        Ok(Answer { value: outcome.output.to_value()?, notes: outcome.notes })
    }

    /// The documents that agents can read.
    pub fn resources(&self) -> Vec<Resource> {
        let capabilities = self.executor.toolsets.capabilities();
        capabilities.flat_map(|capability| (capability.resources)(&self.bundle)).collect()
    }

    /// The text of one of them.
    pub fn resource(&self, uri: &str) -> Option<String> {
        let context = self.executor.context(self.bundle.clone(), self.caller.clone());
        let mut capabilities = self.executor.toolsets.capabilities();
        capabilities.find_map(|capability| (capability.read_resource)(&context, uri)).map(|r| r.1)
    }

    /// Whether the caller may see records: everyone on an open server, and whoever said who they
    /// are on another.
    pub fn may_read(&self, is_open: bool) -> bool {
        is_open || self.caller.identity.is_some()
    }
}
