//! The DuckDB database of a bundle, opened read-only. The only place that runs SQL while serving; the SQL
//! itself is written by `query`.

use std::cell::RefCell;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use duckdb::{AccessMode, Config, Connection, InterruptHandle, Row, params_from_iter};

use super::BundleError;
use crate::error::{Error, Result};

/// A pool of connections to one database. A connection serves one query at a time; the lock is held only to take one
/// or to put it back, and only ever on a blocking thread.
pub struct Database {
    idle: Mutex<Vec<Connection>>,
    /// Never queried: every other connection is a clone of it.
    first: Mutex<Connection>,
}

/// What DuckDB may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Engine {
    pub memory: String,
    pub threads: usize,
}

impl Default for Engine {
    fn default() -> Engine {
        let threads = std::thread::available_parallelism().map_or(2, |n| n.get());
        // Enough for the sorts and groupings that a request can ask for; a bundle is read through the page cache.
        Engine { memory: "1GB".into(), threads }
    }
}

impl Engine {
    /// Whether the memory is a size that DuckDB reads.
    pub fn check(&self) -> std::result::Result<(), String> {
        let memory = self.memory.trim();
        let digits = memory.bytes().take_while(u8::is_ascii_digit).count();
        let unit = memory[digits..].trim().to_ascii_uppercase();
        let is_size = digits > 0 && ["KB", "MB", "GB", "TB", "KIB", "MIB", "GIB", "TIB"].contains(&unit.as_str());
        if is_size { Ok(()) } else { Err(format!("{memory:?} is no size; write it like 1GB or 512MB")) }
    }
}

impl Database {
    pub fn open(path: &Path, engine: &Engine) -> Result<Self, BundleError> {
        let config = || -> duckdb::Result<Config> {
            Config::default()
                .access_mode(AccessMode::ReadOnly)?
                .enable_autoload_extension(false)?
                .max_memory(&engine.memory)?
                .threads(engine.threads as i64)?
                .with("temp_directory", "")
        };
        let open = || -> duckdb::Result<Connection> {
            let connection = Connection::open_with_flags(path, config()?)?;
            connection.execute_batch("SET enable_external_access = false; SET lock_configuration = true")?;
            Ok(connection)
        };
        let first = open().map_err(|e| BundleError::Damaged(format!("DuckDB cannot open it ({})", first_line(&e))))?;
        Ok(Database { idle: Mutex::new(Vec::new()), first: Mutex::new(first) })
    }

    /// The rows of a query, each as its columns in text form. Values are bound, never spliced.
    pub fn rows(&self, sql: &str, values: &[String]) -> Result<Vec<Vec<Option<String>>>> {
        self.query(sql, values, texts)
    }

    /// The rows of a query, or nothing if it took longer than this and was interrupted.
    pub fn rows_within(
        &self,
        sql: &str,
        values: &[String],
        time: Duration,
    ) -> Result<Option<Vec<Vec<Option<String>>>>> {
        let connection = self.take()?;
        let handle = connection.interrupt_handle();
        let begun = Instant::now();
        let (done, waiting) = std::sync::mpsc::channel::<()>();
        let rows = std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut patience = time;
                // More than once: DuckDB forgets an interrupt that comes before its query has begun.
                while waiting.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
                    handle.interrupt();
                    patience = Duration::from_millis(10);
                }
            });
            let rows = query(&connection, sql, values, texts);
            drop(done);
            rows
        });
        // By the clock, not by whether the interrupt came in time. The connection may still hold one, so it is not kept.
        if begun.elapsed() >= time {
            return Ok(None);
        }
        let rows = rows?;
        lock(&self.idle).push(connection);
        Ok(Some(rows))
    }

    /// The one column of a query, a number in each row.
    pub fn numbers(&self, sql: &str, values: &[String]) -> Result<Vec<u32>> {
        self.query(sql, values, |row| row.get(0))
    }

    fn query<T>(&self, sql: &str, values: &[String], read: impl Fn(&Row) -> duckdb::Result<T>) -> Result<Vec<T>> {
        let connection = self.take()?;
        let rows = query(&connection, sql, values, read);
        if rows.is_ok() {
            lock(&self.idle).push(connection);
        }
        rows
    }

    fn take(&self) -> Result<Connection> {
        match lock(&self.idle).pop() {
            Some(connection) => Ok(connection),
            None => lock(&self.first).try_clone().map_err(Error::internal),
        }
    }
}

/// The columns of a row, in text form.
fn texts(row: &Row) -> duckdb::Result<Vec<Option<String>>> {
    (0..row.as_ref().column_count()).map(|i| row.get(i)).collect()
}

/// Stops the queries of one request, from any thread.
#[derive(Clone, Default)]
pub struct Stop(Arc<Stopping>);

#[derive(Default)]
struct Stopping {
    is_stopped: AtomicBool,
    running: Mutex<Vec<Arc<InterruptHandle>>>,
}

thread_local! {
    /// The request that this thread works for. Not an argument: everything between a surface and a query would hand it down unread.
    static CURRENT: RefCell<Option<Stop>> = const { RefCell::new(None) };
}

impl Stop {
    pub fn stop(&self) {
        self.0.is_stopped.store(true, Ordering::SeqCst);
        for handle in lock(&self.0.running).iter() {
            handle.interrupt();
        }
    }

    /// Stops when the guard is dropped. What has ended by then is not disturbed.
    pub fn when_dropped(self) -> impl Drop {
        struct Guard(Stop);
        impl Drop for Guard {
            fn drop(&mut self) {
                self.0.stop();
            }
        }
        Guard(self)
    }

    /// What this thread works for, to be handed to threads that help it.
    pub fn current() -> Stop {
        CURRENT.with_borrow(|current| current.clone()).unwrap_or_default()
    }

    /// Runs `work`; the queries in it end with an error when this is stopped.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        CURRENT.set(Some(self.clone()));
        let done = work();
        CURRENT.set(None);
        done
    }

    fn begins(&self, handle: &Arc<InterruptHandle>) {
        lock(&self.0.running).push(handle.clone());
    }

    fn ends(&self, handle: &Arc<InterruptHandle>) {
        lock(&self.0.running).retain(|running| !Arc::ptr_eq(running, handle));
    }
}

fn query<T>(
    connection: &Connection,
    sql: &str,
    values: &[String],
    read: impl Fn(&Row) -> duckdb::Result<T>,
) -> Result<Vec<T>> {
    let (stop, handle) = (Stop::current(), connection.interrupt_handle());
    stop.begins(&handle);
    let is_stopped = || stop.0.is_stopped.load(Ordering::SeqCst);
    let rows = if is_stopped() { Ok(Vec::new()) } else { run(connection, sql, values, read).map_err(Error::internal) };
    stop.ends(&handle);
    if is_stopped() { Err(Error::internal("the caller went away")) } else { rows }
}

fn run<T>(
    connection: &Connection,
    sql: &str,
    values: &[String],
    read: impl Fn(&Row) -> duckdb::Result<T>,
) -> duckdb::Result<Vec<T>> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params_from_iter(values))?;
    let mut out = Vec::new();
    while let Some(row) = rows.next()? {
        out.push(read(row)?);
    }
    Ok(out)
}

/// A poisoned lock guards a list of connections that is whole at every moment.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn first_line(error: &impl std::fmt::Display) -> String {
    error.to_string().lines().next().unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Given a query that would run for hours, when its request is stopped, then it ends at once, and the next one runs.
    #[test]
    fn a_stopped_request_ends_its_query() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("empty.db");
        drop(Connection::open(&path).unwrap());
        let database = Database::open(&path, &Engine::default()).unwrap();
        let endless = "SELECT count(*)::VARCHAR FROM range(10000000) a, range(10000000) b WHERE a.range + b.range = -1";
        let stop = Stop::default();
        let guard = stop.clone().when_dropped();
        let ended = std::thread::scope(|scope| {
            let running = scope.spawn(|| stop.during(|| database.rows(endless, &[])));
            std::thread::sleep(Duration::from_millis(200));
            let begun = Instant::now();
            drop(guard);
            assert!(running.join().unwrap().is_err());
            begun.elapsed()
        });
        assert!(ended < Duration::from_secs(5), "{ended:?}");
        assert_eq!(database.rows("SELECT 1::VARCHAR", &[]).unwrap(), [[Some("1".to_string())]]);
    }

    /// Given an engine with so much memory and so many threads, when a database is opened, then it keeps to them, reaches no file
    /// and no network, and can't be talked out of it.
    #[test]
    fn a_database_keeps_to_its_limits_and_reaches_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("empty.db");
        drop(Connection::open(&path).unwrap());
        let database = Database::open(&path, &Engine { memory: "200MB".into(), threads: 1 }).unwrap();
        let one = |sql: &str| database.rows(sql, &[]).map(|rows| rows[0][0].clone().unwrap_or_default());
        assert_eq!(one("SELECT current_setting('threads')::VARCHAR").unwrap(), "1");
        assert!(one("SELECT current_setting('memory_limit')").unwrap().starts_with("190"), "200 MB are 190.7 MiB");
        for sql in [
            "SELECT content FROM read_text('/etc/hostname')",
            "SELECT count(*)::VARCHAR FROM read_csv('https://example.org/a.csv')",
            "ATTACH '/tmp/other.db'",
            "COPY (SELECT 1) TO '/tmp/josh-evil'",
            "SET enable_external_access = true",
            "SET memory_limit = '64GB'",
            "CREATE TABLE t (a INT)",
            "INSTALL httpfs",
        ] {
            assert!(one(sql).is_err(), "{sql}");
        }
        for (memory, is_size) in
            [("1GB", true), ("512 MiB", true), ("1", false), ("GB", false), ("80%", false), ("é", false)]
        {
            assert_eq!(Engine { memory: memory.into(), threads: 1 }.check().is_ok(), is_size, "{memory}");
        }
    }
}
