//! A model that is loaded when it is first needed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use super::Model;

/// How often a caller that waits for a model looks whether it is still wanted.
const LOADING_POLL: Duration = Duration::from_millis(5);

/// A model that the first query loads, in a thread of its own. Loading takes up to a second, unless
/// it is the built-in model, and can't be interrupted, so a caller waits for it only as long as
/// somebody waits for the caller.
#[derive(Default)]
pub struct LazyModel {
    begun: OnceLock<()>,
    loaded: Arc<OnceLock<LoadedModel>>,
}

pub type LoadedModel = Result<Arc<Model>, String>;

impl LazyModel {
    /// The model, if it has been loaded.
    pub fn get(&self) -> Option<&LoadedModel> {
        self.loaded.get()
    }

    /// Loads the model, or waits until it is loaded. None if the caller was abandoned before.
    pub fn wait(
        &self,
        load: impl FnOnce() -> LoadedModel + Send + 'static,
        is_abandoned: &dyn Fn() -> bool,
    ) -> Option<&LoadedModel> {
        self.begun.get_or_init(|| {
            let loaded = self.loaded.clone();
            let load = move || {
                // Without a result after a panic, everybody would wait for ever.
                let result = catch_unwind(AssertUnwindSafe(load));
                let _ = loaded.set(result.unwrap_or_else(|_| Err("loading it panicked".into())));
            };
            if let Err(error) = thread::Builder::new().name("model".into()).spawn(load) {
                let _ = self.loaded.set(Err(format!("no thread to load it: {error}")));
            }
        });
        loop {
            if let Some(loaded) = self.loaded.get() {
                return Some(loaded);
            }
            if is_abandoned() {
                return None;
            }
            thread::sleep(LOADING_POLL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_a_model_longer_than_they_want_to() {
        let model = LazyModel::default();
        let (finish, finished) = std::sync::mpsc::channel::<()>();
        let load = move || {
            let _ = finished.recv();
            Err("a load that takes its time".to_string())
        };
        assert!(model.wait(load, &|| true).is_none(), "an abandoned caller leaves");
        finish.send(()).unwrap();
        let unused = || unreachable!("a model is loaded once");
        assert!(model.wait(unused, &|| false).is_some_and(Result::is_err));
        let panicking = LazyModel::default();
        let panic = || panic!("a damaged model");
        assert!(panicking.wait(panic, &|| false).is_some_and(Result::is_err));
    }
}
