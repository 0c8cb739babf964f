//! Bounds the memory of files that are read at the same time. It only makes readers wait; it does
//! not measure what they really take.

use std::sync::{Condvar, Mutex, PoisonError};

pub struct MemoryBudget {
    total: u64,
    left: Mutex<u64>,
    freed: Condvar,
}

/// A share of the budget, given back when it is dropped.
pub struct Share<'a> {
    budget: &'a MemoryBudget,
    bytes: u64,
}

impl MemoryBudget {
    pub fn new(total: u64) -> MemoryBudget {
        MemoryBudget { total, left: Mutex::new(total), freed: Condvar::new() }
    }

    /// Waits until so many bytes are left. A file that needs more than the whole budget waits until
    /// it is alone.
    pub fn take(&self, bytes: u64) -> Share<'_> {
        let bytes = bytes.min(self.total);
        let left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.freed.wait_while(left, |left| *left < bytes);
        *waited.unwrap_or_else(PoisonError::into_inner) -= bytes;
        Share { budget: self, bytes }
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        *self.budget.left.lock().unwrap_or_else(PoisonError::into_inner) += self.bytes;
        self.budget.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_the_budget_is_taken_alone() {
        let budget = MemoryBudget::new(10);
        let (small, other) = (budget.take(4), budget.take(6));
        assert_eq!(*budget.left.lock().unwrap(), 0);
        drop((small, other));
        let large = budget.take(1000);
        assert_eq!(*budget.left.lock().unwrap(), 0);
        drop(large);
        assert_eq!(*budget.left.lock().unwrap(), 10);
    }
}
