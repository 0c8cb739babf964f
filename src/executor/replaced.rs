//! Bundles that were replaced while calls use them. To close one takes milliseconds (DuckDB stops
//! its threads, the map is taken down), and the last call to let go would do it: often a look-up,
//! on a thread that others wait for. So they are kept until nobody uses them and closed elsewhere.

use std::sync::{Arc, Mutex, PoisonError};

pub struct Replaced<T>(Mutex<Vec<Arc<T>>>);

impl<T> Default for Replaced<T> {
    fn default() -> Replaced<T> {
        Replaced(Mutex::default())
    }
}

impl<T> Replaced<T> {
    pub fn keep(&self, old: Arc<T>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(old);
    }

    /// Closes those that nobody uses any more, on this thread: nobody has them, and nobody a part
    /// of them.
    pub fn close_unused(&self, is_unused: impl Fn(&T) -> bool) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody can take it up again: the only reference is this.
        let is_unused = |old: &mut Arc<T>| Arc::strong_count(old) == 1 && is_unused(old);
        let unused: Vec<Arc<T>> = kept.extract_if(.., is_unused).collect();
        drop(kept);
        drop(unused);
    }

    pub fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Sender, channel};
    use std::thread;

    /// Tells which thread closes it.
    struct Opened(Sender<thread::ThreadId>);

    impl Drop for Opened {
        fn drop(&mut self) {
            self.0.send(thread::current().id()).unwrap();
        }
    }

    /// Given a replaced bundle that a call uses, when the call ends, then it is not closed on the
    /// call's thread, but by whoever closes what is unused.
    #[test]
    fn a_call_never_closes_a_bundle() {
        let (sender, closed) = channel();
        let (replaced, old) = (Replaced::default(), Arc::new(Opened(sender)));
        replaced.keep(old.clone());
        replaced.close_unused(|_| true);
        assert!(closed.try_recv().is_err() && !replaced.is_empty(), "it is in use");
        thread::spawn(move || drop(old)).join().unwrap();
        assert!(closed.try_recv().is_err());
        replaced.close_unused(|_| true);
        assert_eq!(closed.try_recv().unwrap(), thread::current().id());
        assert!(replaced.is_empty());
    }
}
