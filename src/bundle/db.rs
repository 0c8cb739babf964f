//! The DuckDB database of a bundle, opened read-only. The only place that runs SQL while serving;
//! the SQL itself is written by `policy::query`. Parameters are bound as values, columns decoded
//! to values.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use duckdb::types::{FromSql, ToSql, ToSqlOutput, Value};
use duckdb::{AccessMode, Config, Connection, InterruptHandle, params_from_iter};

use super::BundleError;
use super::watchdog::{Interrupt, Stoppable, Watchdog};
use crate::priority::{self, Priority};

/// Statements that a connection keeps planned: those of the texts of all sources, and some others.
const PREPARED: usize = 48;

/// A pool of connections to one database. A connection serves one statement at a time; the lock is
/// held only to take one or to put it back, and only ever on a blocking thread.
pub struct Database {
    idle: Mutex<Vec<Connection>>,
    /// Never queried: every other connection is a clone of it.
    first: Mutex<Connection>,
    watchdog: Watchdog,
    statements: AtomicU64,
}

/// What DuckDB may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuckDbLimits {
    pub memory: String,
    pub threads: usize,
}

impl Default for DuckDbLimits {
    fn default() -> DuckDbLimits {
        let threads = std::thread::available_parallelism().map_or(2, |n| n.get());
        // Enough for the sorts and groupings that a request can ask for; a bundle is read through
        // the page cache.
        DuckDbLimits { memory: "1GB".into(), threads }
    }
}

impl DuckDbLimits {
    /// Whether the memory is a size that DuckDB reads.
    pub fn check(&self) -> Result<(), String> {
        const UNITS: [&str; 8] = ["KB", "MB", "GB", "TB", "KIB", "MIB", "GIB", "TIB"];
        let memory = self.memory.trim();
        let digits = memory.bytes().take_while(u8::is_ascii_digit).count();
        let unit = memory[digits..].trim().to_ascii_uppercase();
        match digits > 0 && UNITS.contains(&unit.as_str()) {
            true => Ok(()),
            false => Err(format!("{memory:?} is not a size; write it like 1GB or 512MB")),
        }
    }
}

/// A parameter of a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum SqlValue {
    Text(String),
    Integer(i64),
    Number(f64),
    Boolean(bool),
    Date(time::Date),
    Numbers(Vec<u32>),
}

impl ToSql for SqlValue {
    fn to_sql(&self) -> duckdb::Result<ToSqlOutput<'_>> {
        Ok(match self {
            SqlValue::Text(text) => ToSqlOutput::from(text.as_str()),
            SqlValue::Integer(number) => ToSqlOutput::Owned(Value::BigInt(*number)),
            SqlValue::Number(number) => ToSqlOutput::Owned(Value::Double(*number)),
            SqlValue::Boolean(flag) => ToSqlOutput::Owned(Value::Boolean(*flag)),
            SqlValue::Date(day) => ToSqlOutput::Owned(Value::Date32(days_since_1970(*day))),
            SqlValue::Numbers(numbers) => {
                ToSqlOutput::Owned(Value::List(numbers.iter().map(|n| Value::UInt(*n)).collect()))
            }
        })
    }
}

/// As DuckDB counts days.
pub fn days_since_1970(day: time::Date) -> i32 {
    day.to_julian_day() - time::OffsetDateTime::UNIX_EPOCH.to_julian_day()
}

/// Why a statement gave no rows.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    #[error("the caller is gone")]
    Cancelled,
    #[error("the time is up")]
    TimedOut,
    #[error("{0}")]
    Failed(String),
}

/// One row of a result.
pub struct Row<'a, 'b>(&'a duckdb::Row<'b>);

impl Row<'_, '_> {
    pub fn get<T: FromSql>(&self, column: usize) -> Result<T, QueryError> {
        self.0.get(column).map_err(failed)
    }

    /// A value of any type that a bundle's columns of text, numbers and flags have.
    pub fn json(&self, column: usize) -> Result<serde_json::Value, QueryError> {
        json(self.get::<Value>(column)?)
    }
}

fn json(value: Value) -> Result<serde_json::Value, QueryError> {
    Ok(match value {
        Value::Null => serde_json::Value::Null,
        Value::Text(text) => text.into(),
        Value::Boolean(flag) => flag.into(),
        Value::BigInt(number) => number.into(),
        Value::Int(number) => number.into(),
        Value::Double(number) => number.into(),
        Value::List(items) => items.into_iter().map(json).collect::<Result<_, _>>()?,
        other => return Err(QueryError::Failed(format!("a column with {other:?}"))),
    })
}

fn failed(error: impl std::fmt::Display) -> QueryError {
    QueryError::Failed(error.to_string())
}

/// Tells DuckDB how many processors and how much memory there are. It looks for the limits of the
/// control group otherwise, whatever it is configured to use, and ends the process when one of
/// those files can't be opened, because too many are, say. What it is told is replaced by its
/// configuration.
///
/// # Safety
/// There must be no other thread: this changes the environment.
pub unsafe fn tell_duckdb_of_the_machine() {
    for (name, value) in [("SLURM_CPUS_ON_NODE", "1"), ("SLURM_MEM_PER_NODE", "1024")] {
        if std::env::var_os(name).is_none() {
            // SAFETY: as the caller promises.
            unsafe { std::env::set_var(name, value) };
        }
    }
}

impl Stoppable for InterruptHandle {
    fn stop(&self) {
        self.interrupt();
    }
}

impl Database {
    pub fn open(path: &Path, limits: &DuckDbLimits) -> Result<Self, BundleError> {
        let config = || -> duckdb::Result<Config> {
            Config::default()
                .access_mode(AccessMode::ReadOnly)?
                .enable_autoload_extension(false)?
                .max_memory(&limits.memory)?
                .threads(limits.threads as i64)?
                .with("temp_directory", "")
        };
        let open = || -> duckdb::Result<Connection> {
            let connection = Connection::open_with_flags(path, config()?)?;
            connection.execute_batch(
                "SET enable_external_access = false; SET lock_configuration = true",
            )?;
            Ok(connection)
        };
        // DuckDB's own threads inherit the priority of the thread that opens it.
        let opened = std::thread::scope(|scope| {
            let opening = std::thread::Builder::new().spawn_scoped(scope, || {
                priority::set(Priority::Queries);
                open()
            });
            let opening = opening.map_err(BundleError::unreadable)?;
            let opened = opening.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            opened.map_err(|e| BundleError::Database(first_line(&e)))
        });
        let first = opened?;
        Ok(Database {
            idle: Mutex::default(),
            first: Mutex::new(first),
            watchdog: Watchdog::default(),
            statements: AtomicU64::new(0),
        })
    }

    /// How many statements ran since it was opened.
    pub fn statements(&self) -> u64 {
        self.statements.load(Ordering::Relaxed)
    }

    /// The rows of a statement, each decoded by `read`. Values are bound, never spliced.
    pub fn query<T>(
        &self,
        sql: &str,
        values: &[SqlValue],
        interrupt: &Interrupt,
        read: impl FnMut(&Row) -> Result<T, QueryError>,
    ) -> Result<Vec<T>, QueryError> {
        if interrupt.is_cancelled() {
            return Err(QueryError::Cancelled);
        }
        self.statements.fetch_add(1, Ordering::Relaxed);
        let connection = self.connection()?;
        let watched = self.watchdog.watch(connection.interrupt_handle(), interrupt);
        let rows = run(&connection, sql, values, read);
        drop(watched);
        // By the clock, not by whether the interrupt came in time. The connection may still hold an
        // interrupt, so it is not kept.
        if interrupt.is_cancelled() {
            return Err(QueryError::Cancelled);
        }
        if interrupt.is_late() {
            return Err(QueryError::TimedOut);
        }
        let rows = rows?;
        lock(&self.idle).push(connection);
        Ok(rows)
    }

    fn connection(&self) -> Result<Connection, QueryError> {
        match lock(&self.idle).pop() {
            Some(connection) => Ok(connection),
            None => {
                let new = lock(&self.first).try_clone().map_err(failed)?;
                new.set_prepared_statement_cache_capacity(PREPARED);
                Ok(new)
            }
        }
    }
}

fn run<T>(
    connection: &Connection,
    sql: &str,
    values: &[SqlValue],
    mut read: impl FnMut(&Row) -> Result<T, QueryError>,
) -> Result<Vec<T>, QueryError> {
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let mut rows = statement.query(params_from_iter(values)).map_err(failed)?;
    let mut out = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        out.push(read(&Row(row))?);
    }
    Ok(out)
}

/// A poisoned lock guards a list of connections that is consistent at every moment.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn first_line(error: &impl std::fmt::Display) -> String {
    error.to_string().lines().next().unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};
    use tokio_util::sync::CancellationToken;

    const ENDLESS: &str =
        "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range + b.range = -1";

    fn empty(limits: &DuckDbLimits) -> (tempfile::TempDir, Database) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("empty.db");
        drop(Connection::open(&path).unwrap());
        let database = Database::open(&path, limits).unwrap();
        (folder, database)
    }

    fn one<T: FromSql>(
        database: &Database,
        sql: &str,
        values: &[SqlValue],
    ) -> Result<T, QueryError> {
        let rows = database.query(sql, values, &Interrupt::never(), |row| row.get::<T>(0))?;
        rows.into_iter().next().ok_or_else(|| QueryError::Failed("no row".into()))
    }

    /// Given a statement that would run for hours, when its caller goes away, then it ends within
    /// 100 ms, and the next one runs.
    #[test]
    fn a_cancelled_statement_ends_at_once() {
        let (_folder, database) = empty(&DuckDbLimits::default());
        let interrupt = Interrupt { token: CancellationToken::new(), ..Interrupt::never() };
        let ended = std::thread::scope(|scope| {
            let running = scope.spawn(|| database.query(ENDLESS, &[], &interrupt, |_| Ok(())));
            std::thread::sleep(Duration::from_millis(200));
            let begun = Instant::now();
            interrupt.token.cancel();
            assert!(matches!(running.join().unwrap(), Err(QueryError::Cancelled)));
            begun.elapsed()
        });
        assert!(ended < Duration::from_millis(500), "{ended:?}");
        assert_eq!(one::<i64>(&database, "SELECT 1", &[]).unwrap(), 1);
    }

    /// Given several statements with deadlines, when time passes, then each ends at its own.
    #[test]
    fn one_timer_ends_every_statement_at_its_deadline() {
        let (_folder, database) = empty(&DuckDbLimits { memory: "1GB".into(), threads: 1 });
        std::thread::scope(|scope| {
            for ms in [100, 300] {
                let database = &database;
                scope.spawn(move || {
                    let begun = Instant::now();
                    let interrupt = Interrupt::never().by(begun + Duration::from_millis(ms));
                    let ended = database.query(ENDLESS, &[], &interrupt, |_| Ok(()));
                    assert!(matches!(ended, Err(QueryError::TimedOut)));
                    assert!(begun.elapsed() >= Duration::from_millis(ms));
                    assert!(begun.elapsed() < Duration::from_millis(ms + 1_000));
                });
            }
        });
    }

    #[test]
    fn parameters_and_columns_are_values() {
        let (_folder, database) = empty(&DuckDbLimits::default());
        let text = |text: &str| SqlValue::Text(text.into());
        assert_eq!(one::<String>(&database, "SELECT ?", &[text("a'b")]).unwrap(), "a'b");
        assert_eq!(one::<i64>(&database, "SELECT ? + 1", &[SqlValue::Integer(-5)]).unwrap(), -4);
        assert!(one::<bool>(&database, "SELECT NOT ?", &[SqlValue::Boolean(false)]).unwrap());
        let day = SqlValue::Date(crate::catalog::wording::day("2024-02-29").unwrap());
        let sql = "SELECT ? = DATE '2024-02-29'";
        assert!(one::<bool>(&database, sql, &[day]).unwrap());
        let numbers = SqlValue::Numbers(vec![1, 7, 4_000_000_000]);
        let sql = "SELECT count(*) FROM range(10) WHERE range IN (SELECT unnest(?::UINTEGER[]))";
        assert_eq!(one::<i64>(&database, sql, &[numbers]).unwrap(), 2);
        let none = SqlValue::Numbers(Vec::new());
        assert_eq!(one::<i64>(&database, sql, &[none]).unwrap(), 0);
        assert_eq!(one::<Option<String>>(&database, "SELECT NULL::VARCHAR", &[]).unwrap(), None);
    }

    /// Given limits of memory and threads, when a database is opened, then it keeps to them,
    /// reaches no file and no network, and can't be told otherwise.
    #[test]
    fn a_database_keeps_to_its_limits_and_reaches_nothing_else() {
        let (_folder, database) = empty(&DuckDbLimits { memory: "200MB".into(), threads: 1 });
        let text = |sql: &str| one::<String>(&database, sql, &[]);
        assert_eq!(text("SELECT current_setting('threads')::VARCHAR").unwrap(), "1");
        let memory = text("SELECT current_setting('memory_limit')").unwrap();
        assert!(memory.starts_with("190"), "200 MB are 190.7 MiB, not {memory}");
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
            assert!(text(sql).is_err(), "{sql}");
        }
        let sizes = [("1GB", true), ("512 MiB", true), ("1", false), ("GB", false), ("80%", false)];
        for (memory, is_size) in sizes.into_iter().chain([("é", false)]) {
            let limits = DuckDbLimits { memory: memory.into(), threads: 1 };
            assert_eq!(limits.check().is_ok(), is_size, "{memory}");
        }
    }
}
