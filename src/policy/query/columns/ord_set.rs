//! The records that filters leave, by their `ord`.

use super::condition::Test;
use crate::bundle::columns::OrdBits;

pub enum OrdSet {
    /// So many, from the first on.
    All(u32),
    /// Few of them, in ascending order.
    Listed(Vec<u32>),
    Bits(OrdBits),
}

impl OrdSet {
    /// Those of them that pass the test.
    pub fn keep(self, test: &Test, records: u32) -> OrdSet {
        match self {
            OrdSet::All(_) => test.all(records),
            OrdSet::Listed(mut ords) => {
                ords.retain(|ord| test.accepts(*ord));
                OrdSet::Listed(ords)
            }
            OrdSet::Bits(mut bits) => match test.all(records) {
                OrdSet::Bits(other) => {
                    bits.keep(&other);
                    OrdSet::Bits(bits)
                }
                OrdSet::Listed(mut ords) => {
                    ords.retain(|ord| bits.contains(*ord));
                    OrdSet::Listed(ords)
                }
                OrdSet::All(_) => OrdSet::Bits(bits),
            },
        }
    }

    /// Those of them that are among these, which are in ascending order.
    pub fn among(self, ords: &[u32]) -> OrdSet {
        debug_assert!(ords.is_sorted());
        let mut kept = ords.to_vec();
        kept.retain(|ord| self.contains(*ord));
        OrdSet::Listed(kept)
    }

    pub fn contains(&self, ord: u32) -> bool {
        match self {
            OrdSet::All(records) => ord < *records,
            OrdSet::Listed(ords) => ords.binary_search(&ord).is_ok(),
            OrdSet::Bits(bits) => bits.contains(ord),
        }
    }

    pub fn len(&self) -> u64 {
        match self {
            OrdSet::All(records) => u64::from(*records),
            OrdSet::Listed(ords) => ords.len() as u64,
            OrdSet::Bits(bits) => bits.len(),
        }
    }

    /// Calls `visit` with each, in ascending order.
    #[inline]
    pub fn each(&self, mut visit: impl FnMut(u32)) {
        let visit = |ord| {
            visit(ord);
            Ok::<_, std::convert::Infallible>(())
        };
        let Ok(()) = self.try_each(visit);
    }

    /// The same until the first error.
    #[inline]
    pub fn try_each<E>(&self, visit: impl FnMut(u32) -> Result<(), E>) -> Result<(), E> {
        match self {
            OrdSet::All(records) => (0..*records).try_for_each(visit),
            OrdSet::Listed(ords) => ords.iter().copied().try_for_each(visit),
            OrdSet::Bits(bits) => bits.iter().try_for_each(visit),
        }
    }
}
