//! The style sheet and the scripts of the pages: in the binary, under names with their hashes, so
//! that browsers keep them for good.

use std::sync::LazyLock;

use actix_web::HttpResponse;
use actix_web::http::header;
use sha2::{Digest, Sha256};

/// Everything below this path is an asset.
pub const FOLDER: &str = "/static/";

pub struct Asset {
    /// `/static/josh-0a1b2c3d.css`
    pub path: String,
    content_type: &'static str,
    text: &'static str,
}

impl Asset {
    fn new(name: &str, ending: &str, content_type: &'static str, text: &'static str) -> Asset {
        let hash = hex::encode(Sha256::digest(text));
        Asset { path: format!("{FOLDER}{name}-{}.{ending}", &hash[..8]), content_type, text }
    }
}

const SCRIPT: &str = "text/javascript; charset=utf-8";

pub static STYLE: LazyLock<Asset> = LazyLock::new(|| {
    let text = include_str!("../../../assets/web/josh.css");
    Asset::new("josh", "css", "text/css; charset=utf-8", text)
});

pub static PAGE_SCRIPT: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("josh", "js", SCRIPT, include_str!("../../../assets/web/josh.js")));

pub static DOCS_SCRIPT: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("docs", "js", SCRIPT, include_str!("../../../assets/web/docs.js")));

/// The asset at this path. Another version's name is not found: its page is gone as well.
pub fn find(path: &str) -> Option<HttpResponse> {
    let all = [&*STYLE, &*PAGE_SCRIPT, &*DOCS_SCRIPT];
    let asset = all.into_iter().find(|asset| asset.path == path)?;
    let response = HttpResponse::Ok()
        .content_type(asset.content_type)
        .insert_header((header::CACHE_CONTROL, "public, max-age=31536000, immutable"))
        .body(asset.text);
    Some(response)
}
