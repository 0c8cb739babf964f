//! A model that is loaded when it is first needed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
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
    has_begun: Mutex<bool>,
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
        let load = Arc::new(Mutex::new(Some(load)));
        loop {
            if let Some(loaded) = self.loaded.get() {
                return Some(loaded);
            }
            if is_abandoned() {
                return None;
            }
            let mut has_begun = self.has_begun.lock().unwrap_or_else(PoisonError::into_inner);
            // Without a thread to spare it is tried again: there may be one in a moment.
            *has_begun = *has_begun || self.begin(load.clone());
            drop(has_begun);
            thread::sleep(LOADING_POLL);
        }
    }

    /// Starts the thread that loads the model. Tells whether there is one.
    fn begin<F: FnOnce() -> LoadedModel + Send + 'static>(
        &self,
        load: Arc<Mutex<Option<F>>>,
    ) -> bool {
        let loaded = self.loaded.clone();
        let work = move || {
            let Some(load) = load.lock().unwrap_or_else(PoisonError::into_inner).take() else {
                return;
            };
            // Without a result after a panic, everybody would wait for ever.
            let result = catch_unwind(AssertUnwindSafe(load));
            let _ = loaded.set(result.unwrap_or_else(|_| Err("loading it panicked".into())));
        };
        thread::Builder::new().name("model".into()).spawn(work).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn nobody_waits_for_a_model_longer_than_they_want_to() {
        let model = LazyModel::default();
        let (finish, finished) = std::sync::mpsc::channel::<()>();
        let load = move || {
            let _ = finished.recv();
            Err("a load that takes its time".to_string())
        };
        let looked = Cell::new(0);
        let leaves = || looked.replace(looked.get() + 1) > 0;
        assert!(model.wait(load, &leaves).is_none(), "an abandoned caller leaves");
        finish.send(()).unwrap();
        let unused = || unreachable!("a model is loaded once");
        assert!(model.wait(unused, &|| false).is_some_and(Result::is_err));
        let panicking = LazyModel::default();
        let panic = || panic!("a damaged model");
        assert!(panicking.wait(panic, &|| false).is_some_and(Result::is_err));
    }
}
