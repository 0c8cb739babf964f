#!/usr/bin/env python3
"""Loads the tables, texts and vectors of a bundle into PostgreSQL, and compares what arrived. See docs/scaling.md.

Usage: load.py BUNDLE CONNECTION [SCHEMA]     load.py federal.db 'host=db dbname=policy' josh
Needs the packages duckdb (2.0 or newer) and psycopg from PyPI. SCHEMA (josh) must not exist. Vectors need the extension vector
(pgvector 0.7 or newer); without it, or in a bundle without them, they are left out.
"""

import json
import mmap
import struct
import sys
from pathlib import Path

import duckdb
import psycopg
from psycopg import sql

TYPES = {"VARCHAR": "text", "BIGINT": "bigint", "DOUBLE": "double precision", "BOOLEAN": "boolean", "DATE": "date",
         "VARCHAR[]": "text[]", "BIGINT[]": "bigint[]"}


class Bundle:
    """The parts of a bundle that DuckDB does not read; ARCHITECTURE.md describes the file."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        footer = self.map[-128:]
        if footer[:8] != b"JOSHBNDL":
            sys.exit(f"{path} is not a bundle")
        at, length = struct.unpack_from("<QQ", footer, 16)
        self.manifest = json.loads(self.map[at:at + length])

    def section(self, kind):
        return next((s for s in self.manifest["sections"] if s["kind"] == kind), None)

    def files(self, kind):
        """The packed files of a section, by name; none if the bundle has no such section."""
        section = self.section(kind)
        if section is None:
            return {}
        start = section["offset"]
        length, = struct.unpack_from("<Q", self.map, start)
        return {name: (start + at, size) for name, at, size in json.loads(self.map[start + 8:start + 8 + length])}

    def matrix(self):
        """Passages that may have vectors, and numbers of a vector; 0 in a bundle without vectors."""
        matrix = self.files("matrix")
        count = matrix["norms"][1] // 4 if matrix else 0
        if not count or "matrix" in matrix:
            return count, matrix["matrix"][1] // count if count else 0
        return count, struct.unpack_from("<II", self.map, self.section("vectors")["offset"])[1]

    def vectors(self):
        """Every passage that has a vector: its number, the number of its record, the vector."""
        matrix, (count, width) = self.files("matrix"), self.matrix()
        norms = matrix["norms"][0]
        if "slots" in matrix:
            # The graph's file begins with the number and length of its rows, and the rows.
            slots = struct.unpack_from(f"<{count}I", self.map, matrix["slots"][0])
            rows = self.section("vectors")["offset"] + 8
        else:
            slots, rows = range(count), matrix["matrix"][0]
        starts, length = self.files("text_index")["josh.starts"]
        starts = struct.unpack_from(f"<{length // 4}I", self.map, starts)
        for record, (first, end) in enumerate(zip(starts, starts[1:])):
            # Passages that were not embedded have no norm if they are the last ones, else a norm of 0.
            for passage in range(first, min(end, count)):
                if struct.unpack_from("<f", self.map, norms + 4 * passage)[0] > 0:
                    yield passage, record, struct.unpack_from(f"<{width}b", self.map, rows + width * slots[passage])


def load_tables(tables, db, schema):
    names = [name for name, in tables.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()]
    for name in names:
        columns = tables.execute(f'DESCRIBE "{name}"').fetchall()
        wanted = [sql.SQL("{} {}").format(sql.Identifier(column[0]), sql.SQL(TYPES[column[1]])) for column in columns]
        # Rows of a record carry its id as `parent`; the records of a source have their own.
        key = "parent, ord" if any(column[0] == "parent" for column in columns) else "id"
        wanted.append(sql.SQL(f"PRIMARY KEY ({key})"))
        table = sql.Identifier(schema, name)
        db.execute(sql.SQL("CREATE TABLE {} ({})").format(table, sql.SQL(", ").join(wanted)))
        rows = tables.execute(f'SELECT * FROM "{name}"')
        with db.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(table)) as copy:
            while batch := rows.fetchmany(10_000):
                for row in batch:
                    copy.write_row(row)
    return names


def load_vectors(bundle, tables, db, schema):
    available = db.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'").fetchone()
    if not available or not bundle.matrix()[0]:
        print("no vectors: " + ("the bundle has none" if available else "the extension vector is not installed"))
        return 0
    db.execute("CREATE EXTENSION IF NOT EXISTS vector")
    ids = []
    for source in bundle.manifest["sources"]:
        name = source["key"].replace("-", "_")
        ids.extend(id for id, in tables.execute(f'SELECT id FROM "{name}" ORDER BY ord').fetchall())
    table = sql.Identifier(schema, "passages")
    columns = f"(passage bigint PRIMARY KEY, id text, embedding halfvec({bundle.matrix()[1]}))"
    db.execute(sql.SQL("CREATE TABLE {} " + columns).format(table))
    with db.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(table)) as copy:
        for passage, record, numbers in bundle.vectors():
            # Cosine similarity is the same for all multiples of a vector, so its 8 bits are taken as they are.
            copy.write_row((passage, ids[record], str(list(numbers))))
    db.execute(sql.SQL("CREATE INDEX ON {} USING hnsw (embedding halfvec_cosine_ops)").format(table))
    return db.execute(sql.SQL("SELECT count(*) FROM {}").format(table)).fetchone()[0]


def measure(name, columns, run):
    """Rows of a table, and the characters of its texts."""
    texts = [f'coalesce(sum(length("{column[0]}")), 0)' for column in columns if column[1] == "VARCHAR"]
    return tuple(int(value) for value in run(f"SELECT count(*), {' + '.join(texts) or '0'} FROM {name}"))


def main():
    if not 3 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    path, schema = Path(sys.argv[1]), sys.argv[3] if len(sys.argv) > 3 else "josh"
    bundle, tables = Bundle(path), duckdb.connect(str(path), read_only=True)
    with psycopg.connect(sys.argv[2]) as db:
        db.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
        names = load_tables(tables, db, schema)
        vectors = load_vectors(bundle, tables, db, schema)
        rows = characters = 0
        for name in names:
            columns = tables.execute(f'DESCRIBE "{name}"').fetchall()
            here = measure(f'"{name}"', columns, lambda query: tables.execute(query).fetchone())
            there = measure(f'"{schema}"."{name}"', columns, lambda query: db.execute(query).fetchone())
            if here != there:
                sys.exit(f"{name}: {here} rows and characters in the bundle, {there} in PostgreSQL; nothing was kept")
            rows, characters = rows + here[0], characters + here[1]
        expected = sum(source["vectors"] for source in bundle.manifest["sources"])
        if vectors not in (0, expected):
            sys.exit(f"{expected} vectors in the bundle, {vectors} in PostgreSQL; nothing was kept")
        print(f"{len(names)} tables, {rows:,} rows, {characters:,} characters, {vectors:,} vectors: as in the bundle")


main()
