//! An actix handler that does nothing: the upper bound for Josh in `benches/lookup.sh`.

use actix_web::{App, HttpResponse, HttpServer, web};

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    let server = HttpServer::new(|| App::new().default_service(web::to(HttpResponse::Ok)))
        .workers(2)
        .bind("127.0.0.1:0")?;
    println!("{}", server.addrs()[0]);
    server.run().await
}
