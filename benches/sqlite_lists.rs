//! The lists of `benches/lists.sh` as an actix handler over SQLite would answer them: prepared
//! statements, indexes that fit, one connection per worker, no thread between.
//!
//! Usage: sqlite_lists LISTS.db    Prints its address.

use std::cell::RefCell;
use std::path::PathBuf;

use actix_web::{App, HttpResponse, HttpServer, web};
use rusqlite::{Connection, OpenFlags, Result, Row};

type Db = RefCell<Connection>;

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    let path: PathBuf = std::env::args().nth(1).expect("the database").into();
    let server = HttpServer::new(move || {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = Connection::open_with_flags(&path, flags).expect("it opens");
        db.execute_batch("PRAGMA mmap_size = 1000000000; PRAGMA cache_size = -64000")
            .expect("it takes settings");
        App::new()
            .app_data(web::Data::new(RefCell::new(db)))
            .route("/filtered", web::get().to(filtered))
            .route("/sorted", web::get().to(sorted))
            .route("/count", web::get().to(count))
            .route("/sum", web::get().to(sum))
            .route("/speaker", web::get().to(speaker))
    })
    .workers(2)
    .bind("127.0.0.1:0")?;
    println!("{}", server.addrs()[0]);
    server.run().await
}

async fn filtered(db: web::Data<Db>) -> HttpResponse {
    let wheres = "FROM bills WHERE congress = 119 AND status = 'enacted'";
    let sql = format!("SELECT data {wheres} ORDER BY ord LIMIT 20");
    page(&db, &format!("SELECT count(*) {wheres}"), &sql)
}

async fn sorted(db: web::Data<Db>) -> HttpResponse {
    let sql = "SELECT data FROM bills ORDER BY cosponsor_count DESC, ord LIMIT 20";
    page(&db, "SELECT max(ord) + 1 FROM bills", sql)
}

async fn speaker(db: web::Data<Db>) -> HttpResponse {
    let wheres = "FROM speakers JOIN record USING (ord) WHERE speaker = 'S000148'";
    let sql = format!("SELECT data {wheres} ORDER BY ord LIMIT 20");
    page(&db, &format!("SELECT count(*) {wheres}"), &sql)
}

async fn count(db: web::Data<Db>) -> HttpResponse {
    let groups = "SELECT policy_area, count(*) AS n FROM bills GROUP BY policy_area";
    buckets(&db, groups)
}

async fn sum(db: web::Data<Db>) -> HttpResponse {
    buckets(&db, "SELECT client, coalesce(sum(amount), 0) AS n FROM filings GROUP BY client")
}

fn page(db: &Db, total: &str, items: &str) -> HttpResponse {
    let total: i64 = one(db, total, |row| row.get(0));
    let items = all(db, items, |row| row.get::<_, String>(0)).join(",");
    json(format!("{{\"data\":[{items}],\"total\":{total}}}"))
}

fn buckets(db: &Db, groups: &str) -> HttpResponse {
    let sql = format!(
        "WITH g AS ({groups}) SELECT *, count(*) OVER (), sum(n) OVER () FROM g \
         ORDER BY 2 DESC, 1 LIMIT 20"
    );
    let rows = all(db, &sql, |row| {
        let (key, value): (Option<String>, i64) = (row.get(0)?, row.get(1)?);
        Ok((serde_json::json!({ "key": key, "value": value }).to_string(), row.get::<_, i64>(2)?))
    });
    let total = rows.first().map_or(0, |row| row.1);
    let buckets: Vec<String> = rows.into_iter().map(|row| row.0).collect();
    json(format!("{{\"buckets\":[{}],\"total_buckets\":{total}}}", buckets.join(",")))
}

fn json(body: String) -> HttpResponse {
    HttpResponse::Ok().content_type("application/json").body(body)
}

fn one<T>(db: &Db, sql: &str, read: impl FnMut(&Row) -> Result<T>) -> T {
    all(db, sql, read).into_iter().next().expect("a row")
}

fn all<T>(db: &Db, sql: &str, read: impl FnMut(&Row) -> Result<T>) -> Vec<T> {
    let db = db.borrow();
    let mut statement = db.prepare_cached(sql).expect("a statement");
    let rows = statement.query_map([], read).expect("it runs");
    rows.collect::<Result<_>>().expect("rows")
}
