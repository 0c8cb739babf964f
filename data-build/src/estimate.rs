//! How long embedding will take: known before it starts, because a night is the most that a build
//! takes without being asked to.

use std::fmt;
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{HumanCount, HumanDuration};

use crate::embedding::Embedding;
use crate::machine;

/// What `--embed auto` embeds for at most.
pub const A_NIGHT: Duration = Duration::from_secs(10 * 3600);

/// Characters of text that make a passage, on average.
pub const CHARACTERS: u64 = 480;

/// A passage of about the usual length.
const SAMPLE: &str = "The Secretary shall, not later than 180 days after the date of enactment of \
    this Act, submit to the Committee on Energy and Commerce of the House of Representatives and \
    the Committee on Commerce, Science, and Transportation of the Senate a report that describes \
    the grants awarded under this section, the criteria by which the recipients were chosen, the \
    number of small, rural and tribal communities that were served, and recommendations for such \
    legislation or administrative action as the Secretary considers appropriate to improve the \
    effectiveness of the program.";

/// Times that the sample is embedded. The fastest counts: the first may be slowed down by reading
/// the model.
const RUNS: usize = 3;

pub struct Estimate {
    passages: u64,
    cores: usize,
    pub time: Duration,
}

impl Estimate {
    /// Embeds a sample passage to see how fast this machine is.
    pub fn measure(embedding: &Embedding, passages: u64) -> Result<Estimate> {
        let mut worker = embedding.worker()?;
        let mut least = Duration::MAX;
        for _ in 0..RUNS {
            let start = Instant::now();
            worker.embed(&[SAMPLE.to_string()])?;
            least = least.min(start.elapsed());
        }
        let cores = machine::cores();
        let time = least.mul_f64(passages as f64 / cores as f64);
        Ok(Estimate { passages, cores, time })
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Estimate { passages, cores, time } = self;
        let cores = if *cores == 1 { "one core".into() } else { format!("{cores} cores") };
        write!(
            f,
            "{} passages to embed, which takes about {} on {cores}",
            HumanCount(*passages),
            HumanDuration(*time)
        )
    }
}
