//! The working database: turns staged files into tables with one row per record, fills in links
//! between them, and marks links that point outside of the bundle. DuckDB does it within a memory
//! limit, spilling to disk.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use duckdb::Connection;
use duckdb::arrow::array::AsArray;
use duckdb::arrow::datatypes::UInt32Type;
use josh::catalog::{Field, Kind, SOURCES, Source, SubResourceKind};

use crate::machine;
use crate::stage::{MAX_STAGED_LINE, Stage};

pub struct Tables {
    pub db: Connection,
}

/// How many links of a field point to a record in the bundle.
#[derive(Clone, Debug)]
pub struct LinkCount {
    pub link: String,
    pub inside: u64,
    pub all: u64,
}

fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

/// A comma-separated list with one expression per column, made from its quoted name.
fn select_list(columns: &[Field], expression: impl Fn(&str) -> String) -> String {
    columns.iter().map(|c| expression(&quoted(c.name))).collect::<Vec<_>>().join(", ")
}

/// A comma-separated list of column definitions.
fn definitions(columns: &[Field]) -> String {
    let definition = |c: &Field| format!("{} {}", quoted(c.name), c.kind.sql());
    columns.iter().map(definition).collect::<Vec<_>>().join(", ")
}

impl Tables {
    pub fn open(folder: &Path) -> Result<Tables> {
        let db = Connection::open(folder.join("work.duckdb"))?;
        let spill = folder.join("spill");
        db.execute_batch(&format!(
            "SET memory_limit = '{}MB'; SET temp_directory = '{}'; SET threads = {}; \
             SET force_compression = 'uncompressed'",
            machine::database_memory_mb(),
            spill.display().to_string().replace('\'', "''"),
            machine::cores(),
        ))?;
        Ok(Tables { db })
    }

    pub fn run(&self, sql: &str) -> Result<()> {
        self.db
            .execute_batch(sql)
            .with_context(|| format!("in: {}", sql.chars().take(300).collect::<String>()))
    }

    pub fn number(&self, sql: &str) -> Result<u64> {
        self.db.query_row(sql, [], |row| row.get(0)).with_context(|| format!("in: {sql}"))
    }

    /// The length of the current texts of some sources.
    pub fn count_characters(&self, sources: &[&str]) -> Result<u64> {
        let mut characters = 0;
        for source in SOURCES.iter().filter(|source| sources.contains(&source.key)) {
            let body = source.sub_table("body");
            let sum = "coalesce(sum(length(text)), 0)::UBIGINT";
            characters += self.number(&format!("SELECT {sum} FROM \"{body}\" WHERE current"))?;
        }
        Ok(characters)
    }

    pub fn text(&self, sql: &str) -> Result<Option<String>> {
        self.db.query_row(sql, [], |row| row.get(0)).with_context(|| format!("in: {sql}"))
    }

    /// The rows of a query.
    pub fn rows<T>(
        &self,
        sql: &str,
        read: impl FnMut(&duckdb::Row) -> duckdb::Result<T>,
    ) -> Result<Vec<T>> {
        let context = || format!("in: {sql}");
        let mut statement = self.db.prepare(sql).with_context(context)?;
        let rows = statement.query_map([], read).with_context(context)?;
        rows.collect::<Result<_, _>>().with_context(context)
    }

    /// The rows of a query with two columns of unsigned integers.
    pub fn pairs(&self, sql: &str) -> Result<Vec<(u32, u32)>> {
        let context = || format!("in: {sql}");
        let mut statement = self.db.prepare(sql).with_context(context)?;
        let mut pairs = Vec::new();
        for batch in statement.stream_arrow([]).with_context(context)? {
            let batch = batch.with_context(context)?;
            let [a, b] = [0, 1].map(|n| batch.column(n).as_primitive_opt::<UInt32Type>());
            let (a, b) = a.zip(b).with_context(context)?;
            pairs.extend(a.values().iter().copied().zip(b.values().iter().copied()));
        }
        Ok(pairs)
    }

    /// Loads the staged rows. Every source gets its tables, even if they are empty.
    pub fn load(&self, stage: &Stage) -> Result<()> {
        for source in SOURCES {
            self.load_records(stage, source)?;
            for sub in source.sub_resources {
                match sub.kind {
                    SubResourceKind::Rows(columns) => {
                        self.load_rows(stage, source, sub.name, columns)?
                    }
                    SubResourceKind::Body => self.load_body(stage, source)?,
                    SubResourceKind::Toc | SubResourceKind::Records { .. } => {}
                }
            }
        }
        Ok(())
    }

    /// The staged rows of a table as a relation, with `_place`, which orders the rows of one
    /// record.
    fn staged(&self, stage: &Stage, table: &str, columns: &str) -> Option<String> {
        let path = |path: &PathBuf| format!("'{}'", path.display().to_string().replace('\'', "''"));
        let paths: Vec<String> = stage.paths(table).iter().map(path).collect();
        let types: Vec<String> =
            columns.split(", ").map(|c| c.replacen(' ', ": '", 1) + "'").collect();
        (!paths.is_empty()).then(|| {
            format!(
                "read_json([{}], format = 'newline_delimited', \
                 maximum_object_size = {MAX_STAGED_LINE}, \
                 columns = {{_place: 'VARCHAR', _rank: 'INT', _seq: 'BIGINT', _n: 'BIGINT', {}}})",
                paths.join(", "),
                types.join(", ")
            )
        })
    }

    /// Loads staged rows into a table `raw`.
    fn read_staged(&self, stage: &Stage, table: &str, columns: &str) -> Result<()> {
        self.run(&format!(
            "DROP TABLE IF EXISTS raw; \
             CREATE TABLE raw (_place VARCHAR, _rank INT, _seq BIGINT, _n BIGINT, {columns})"
        ))?;
        if let Some(staged) = self.staged(stage, table, columns) {
            self.run(&format!("INSERT INTO raw BY NAME SELECT * FROM {staged}"))?;
            stage.remove(table)?;
        }
        Ok(())
    }

    /// One row per record: each field has the last value of the highest rank.
    fn load_records(&self, stage: &Stage, source: &Source) -> Result<()> {
        let columns: Vec<Field> = source.columns().into_iter().filter(|c| c.name != "id").collect();
        let (table, typed) = (source.table(), definitions(&columns));
        self.run(&format!("CREATE TABLE {} (id VARCHAR, {typed})", quoted(&table)))?;
        let newest = select_list(&columns, |c| {
            format!("arg_max({c}, _place) FILTER (WHERE {c} IS NOT NULL) AS {c}")
        });
        if let Some(staged) = self.staged(stage, &table, &format!("\"id\" VARCHAR, {typed}")) {
            self.run(&format!(
                "INSERT INTO {} SELECT id, {newest} FROM {staged} GROUP BY id",
                quoted(&table)
            ))?;
            stage.remove(&table)?;
        }
        Ok(())
    }

    /// Rows of a sub-resource: those of a full record replace all others, partial ones add up.
    fn load_rows(
        &self,
        stage: &Stage,
        source: &Source,
        sub: &str,
        columns: &[Field],
    ) -> Result<()> {
        let table = source.sub_table(sub);
        let typed = definitions(columns);
        self.read_staged(stage, &table, &format!("\"parent\" VARCHAR, {typed}"))?;
        let names = select_list(columns, str::to_string);
        self.run(&format!(
            "CREATE TABLE {} AS SELECT parent, {names}, min(_seq) AS _seq, min(_n) AS _n FROM raw \
             JOIN (SELECT parent AS p, max(_rank) AS top, max(_place) AS last \
                   FROM raw GROUP BY parent) ON parent = p \
             WHERE CASE WHEN top = 2 THEN _place = last ELSE TRUE END \
             GROUP BY parent, {names}, CASE WHEN top = 2 THEN _n ELSE 0 END",
            quoted(&table)
        ))?;
        self.run("DROP TABLE raw")
    }

    /// Texts: each version from the last record of the highest rank; the newest version is current.
    fn load_body(&self, stage: &Stage, source: &Source) -> Result<()> {
        let table = source.sub_table("body");
        self.read_staged(
            stage,
            &table,
            "\"parent\" VARCHAR, \"version\" VARCHAR, \"version_order\" VARCHAR, \
             \"section\" VARCHAR, \"heading\" VARCHAR, \"level\" BIGINT, \"text\" VARCHAR, \
             \"is_amendatory\" BOOLEAN, \"amends\" VARCHAR[]",
        )?;
        self.run(&format!(
            "CREATE TABLE {} AS SELECT raw.parent, raw.version, raw.version = newest AS current, \
               section, heading, level, text, is_amendatory, amends, version_order, _n FROM raw \
             JOIN (SELECT parent, version, max(_place) AS last FROM raw GROUP BY ALL) v \
               ON raw.parent = v.parent AND raw.version = v.version AND _place = last \
             JOIN (SELECT parent, arg_max(version, (version_order, version)) AS newest \
                   FROM raw GROUP BY parent) c ON raw.parent = c.parent",
            quoted(&table)
        ))?;
        self.run("DROP TABLE raw")
    }

    /// Fills in fields and sub-resources from other sources.
    pub fn link(&self) -> Result<()> {
        for statement in LINKS.split(";\n").map(str::trim).filter(|s| !s.is_empty()) {
            self.run(statement)?;
        }
        Ok(())
    }

    /// Records links that point outside of the bundle, and counts all links.
    pub fn count_links(&self) -> Result<Vec<LinkCount>> {
        self.run("CREATE TABLE known (id VARCHAR)")?;
        for source in SOURCES {
            self.run(&format!("INSERT INTO known SELECT id FROM {}", quoted(&source.table())))?;
        }
        let mut counts = Vec::new();
        for source in SOURCES {
            let table = source.table();
            self.run(
                "DROP TABLE IF EXISTS outside; \
                 CREATE TABLE outside (parent VARCHAR, target VARCHAR)",
            )?;
            for column in source.fields.iter().filter(|c| c.kind.target().is_some()) {
                counts.extend(self.count_link(&table, "id", source.key, column, true)?);
            }
            self.run(&format!(
                "UPDATE {0} SET outside_bundle = o.ids FROM \
                   (SELECT parent, list_sort(list(DISTINCT target)) AS ids FROM outside \
                    GROUP BY parent) o WHERE o.parent = {0}.id; \
                 UPDATE {0} SET outside_bundle = [] WHERE outside_bundle IS NULL",
                quoted(&table)
            ))?;
            for sub in source.sub_resources {
                let SubResourceKind::Rows(columns) = sub.kind else { continue };
                let label = format!("{}/{}", source.key, sub.name);
                for column in columns.iter().filter(|c| c.kind.target().is_some()) {
                    counts.extend(self.count_link(
                        &source.sub_table(sub.name),
                        "parent",
                        &label,
                        column,
                        false,
                    )?);
                }
            }
        }
        self.run("DROP TABLE outside; DROP TABLE known")?;
        Ok(counts)
    }

    /// Counts the links of one column. With `mark_outside`, those out of the bundle are inserted
    /// into the table `outside`.
    fn count_link(
        &self,
        table: &str,
        key: &str,
        label: &str,
        column: &Field,
        mark_outside: bool,
    ) -> Result<Option<LinkCount>> {
        let (table, name) = (quoted(table), quoted(column.name));
        let target = if matches!(column.kind, Kind::Ids(_)) {
            format!("unnest({name})")
        } else {
            name.clone()
        };
        let links = format!(
            "(SELECT {key} AS parent, {target} AS target FROM {table} WHERE {name} IS NOT NULL)"
        );
        let all = self.number(&format!("SELECT count(target) FROM {links}"))?;
        if all == 0 {
            return Ok(None);
        }
        let inside = self.number(&format!(
            "SELECT count(*) FROM {links} WHERE target IN (SELECT id FROM known)"
        ))?;
        if mark_outside && inside < all {
            self.run(&format!(
                "INSERT INTO outside SELECT parent, target FROM {links} \
                 WHERE target IS NOT NULL AND target NOT IN (SELECT id FROM known)"
            ))?;
        }
        Ok(Some(LinkCount { link: format!("{label}.{}", column.name), inside, all }))
    }
}

const LINKS: &str = include_str!("links.sql");
