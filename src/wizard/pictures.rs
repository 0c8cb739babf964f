//! Pictures of the pages of a run, within a number of bytes. The browser makes them smaller; the
//! last one is the one that counts and gets the most room.

use super::report::{Failure, Picture};
use super::tab::Tab;

/// Scale and quality, best first.
const SIZES: [(f64, u32); 6] = [(1.0, 75), (0.75, 70), (0.5, 65), (0.4, 55), (0.3, 45), (0.2, 35)];

pub struct Album {
    left: usize,
    /// What one page may take.
    share: usize,
    /// The best size that fitted last: pages of a form are much alike.
    size: usize,
    pictures: Vec<Picture>,
}

impl Album {
    pub fn new(bytes: usize, pages: usize) -> Album {
        // A third is for the last picture.
        let share = bytes * 2 / 3 / pages.max(1);
        Album { left: bytes, share, size: 0, pictures: Vec::new() }
    }

    pub fn add(&mut self, tab: &mut Tab, title: String) -> Result<(), Failure> {
        let (room, first) = (self.share.min(self.left), self.size);
        self.size = self.add_within(tab, title, room, first)?;
        Ok(())
    }

    pub fn add_last(&mut self, tab: &mut Tab, title: String) -> Result<(), Failure> {
        self.add_within(tab, title, self.left, 0).map(drop)
    }

    /// Adds the best picture that fits, if one does, and gives its size.
    fn add_within(
        &mut self,
        tab: &mut Tab,
        title: String,
        room: usize,
        first: usize,
    ) -> Result<usize, Failure> {
        for (size, (scale, quality)) in SIZES.iter().enumerate().skip(first) {
            let base64 = tab.picture(*scale, *quality)?;
            let bytes = base64.len() / 4 * 3;
            if bytes <= room && bytes > 0 {
                self.left -= bytes;
                self.pictures.push(Picture { title, base64 });
                return Ok(size);
            }
        }
        Ok(SIZES.len() - 1)
    }

    pub fn take(&mut self) -> Vec<Picture> {
        std::mem::take(&mut self.pictures)
    }
}
