//! One request for a page: who asks, for what, and how pages call operations. A page calls them as
//! REST does, by path and parameters, so that access, limits and cancellation are the same. A page
//! that calls many of them does so within one piece of work, under one permit.

use std::sync::Arc;

use actix_web::{HttpMessage, HttpRequest, web};
use serde_json::{Map, Value};

use super::address::Query;
use crate::api::argument::WHOLE_PAGE;
use crate::api::{
    Arguments, CallerInfo, Context, Cost, Error, Notes, Operation, Outcome, Resource, Result,
};
use crate::bundle::Bundle;
use crate::executor::{self, Executor};
use crate::http::Router;
use crate::http::front::RequestInfo;

#[derive(Clone)]
pub struct Visit {
    executor: web::Data<Executor>,
    router: web::Data<Router>,
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
    fn of(outcome: Outcome) -> Result<Answer> {
        Ok(Answer { value: outcome.output.into_value()?, notes: outcome.notes })
    }

    /// Takes out a member; null where there is none.
    pub fn take(&mut self, name: &str) -> Value {
        self.value.get_mut(name).map(Value::take).unwrap_or_default()
    }

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

impl Visit {
    pub fn new(
        request: &HttpRequest,
        executor: &web::Data<Executor>,
        bundle: Arc<Bundle>,
    ) -> Result<Visit> {
        let router = request.app_data::<web::Data<Router>>();
        let router = router.ok_or_else(|| Error::internal("an application without a router"))?;
        let extensions = request.extensions();
        let info = extensions.get::<RequestInfo>();
        let info = info.ok_or_else(|| Error::internal("a request without its facts"))?;
        info.route.set("pages");
        let query = Query::read(&Arguments::from_request(request.query_string())?);
        let path = request.uri().path();
        let path = path.strip_suffix('/').unwrap_or(path).to_string();
        let (executor, router) = (executor.clone(), router.clone());
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
        self.run(path, whole(query, most)).await
    }

    async fn run(&self, path: &str, arguments: Arguments) -> Result<Answer> {
        let (operation, arguments) = self.router.find(&format!("/v1{path}"), arguments)?;
        let outcome = self.executor.execute(operation, arguments, self.context()).await?;
        Answer::of(outcome)
    }

    /// Runs work that calls several operations: on one thread for queries, under one permit, until
    /// the page's deadline.
    pub async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Work) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let visit = self.clone();
        let run = move |context: &Arc<Context>| work(&Work { visit: &visit, context });
        self.executor.run(WORK, self.context(), run).await
    }

    fn context(&self) -> Context {
        self.executor.context(self.bundle.clone(), self.caller.clone())
    }

    /// The documents that agents can read.
    pub fn resources(&self) -> Vec<Resource> {
        let capabilities = self.executor.toolsets.capabilities();
        capabilities.flat_map(|capability| (capability.resources)(&self.bundle)).collect()
    }

    /// The text of one of them.
    pub fn resource(&self, uri: &str) -> Option<String> {
        let context = self.context();
        let mut capabilities = self.executor.toolsets.capabilities();
        capabilities.find_map(|capability| (capability.read_resource)(&context, uri)).map(|r| r.1)
    }

    /// Whether the caller may see records: everyone on an open server, and whoever said who they
    /// are on another.
    pub fn may_read(&self, is_open: bool) -> bool {
        is_open || self.caller.identity.is_some()
    }
}

/// What the work of a page may cost.
const WORK: Cost = Cost::Query;

/// A visit on the thread that works for it.
pub struct Work<'a> {
    pub visit: &'a Visit,
    context: &'a Arc<Context>,
}

impl Work<'_> {
    /// Calls the operation at a path of REST, given without `/v1`.
    pub fn call(&self, path: &str, query: &Query) -> Result<Answer> {
        self.run(path, query.arguments())
    }

    /// The same for a list, of which up to `most` items are wanted at once.
    pub fn call_whole(&self, path: &str, query: &Query, most: usize) -> Result<Answer> {
        self.run(path, whole(query, most))
    }

    /// The same with an argument that no address has.
    pub fn call_with(
        &self,
        path: &str,
        query: &Query,
        name: &'static str,
        value: &str,
    ) -> Result<Answer> {
        let mut arguments = query.arguments();
        arguments.push_one(name, value);
        self.run(path, arguments)
    }

    fn run(&self, path: &str, arguments: Arguments) -> Result<Answer> {
        let (operation, arguments) = self.visit.router.find(&format!("/v1{path}"), arguments)?;
        Answer::of(executor::execute_within(WORK, operation, arguments, self.context)?)
    }
}

fn whole(query: &Query, most: usize) -> Arguments {
    let mut arguments = query.without(&["limit"]).arguments();
    arguments.push_one(WHOLE_PAGE, most.to_string());
    arguments
}
