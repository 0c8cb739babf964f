//! What `josh serve` prints when it is ready: what is served, where, and a command to try.

use std::net::SocketAddr;

use crate::access;
use crate::bundle::Bundle;
use crate::tls::Tls;

pub struct Banner<'a> {
    pub address: SocketAddr,
    pub bundle: &'a Bundle,
    pub is_sample: bool,
    pub public_url: Option<&'a str>,
    pub tls: Option<&'a Tls>,
    pub access: Option<&'a access::Options>,
    pub redirect: Option<SocketAddr>,
    /// What can be done with forms, where they are on.
    pub forms: Option<String>,
}

impl Banner<'_> {
    pub fn text(&self) -> String {
        let manifest = &self.bundle.manifest;
        let records: u64 = manifest.sources.iter().map(|s| s.records).sum();
        let from = if self.is_sample {
            "embedded sample; serve your own bundle with --bundle FILE\n  data    \
             josh bundle pull URL --key PEM fetches a published bundle, josh-data-build makes one"
                .to_string()
        } else {
            self.bundle.path.display().to_string()
        };
        let here =
            format!("{}://{}", if self.tls.is_some() { "https" } else { "http" }, self.address);
        let public = self.public_url.unwrap_or(&here);
        let signed = if manifest.signature.is_some() { "signed" } else { "unsigned" };
        let (key, header) = match self.access {
            Some(_) => (" --header 'Authorization: Bearer KEY'", " -H 'Authorization: Bearer KEY'"),
            None => ("", ""),
        };
        let insecure =
            if self.tls.is_some_and(|tls| tls.is_self_signed) { " --insecure" } else { "" };
        format!(
            "Josh {version}\n\
             \x20 bundle  {id}, data up to {as_of}, {records} records, {signed}\n\
             \x20         {from}\n\
             {notice}\
             \x20 web     {here}/\n\
             \x20 REST    {here}/v1/sources, docs at {here}/docs\n\
             \x20 MCP     {public}/mcp\n\
             \x20         claude mcp add --transport http josh {public}/mcp{key}\n\
             \x20         other clients: josh connect CLIENT, or what {here}/mcp shows\n\
             {forms}\
             {tls}\
             \x20 access  {access}\n\
             \x20 try     curl{insecure}{header} {here}{example}\n",
            version = env!("CARGO_PKG_VERSION"),
            id = manifest.id,
            as_of = manifest.as_of,
            notice = self.notice_line(),
            forms = self.forms_line(),
            tls = self.tls_lines(),
            access = self.access_line(),
            example = self.example(),
        )
    }

    fn notice_line(&self) -> String {
        let notice = self.bundle.manifest.notice.as_ref();
        notice.map(|notice| format!("  notice  {notice}\n")).unwrap_or_default()
    }

    fn forms_line(&self) -> String {
        self.forms.as_ref().map(|forms| format!("  forms   {forms}\n")).unwrap_or_default()
    }

    fn tls_lines(&self) -> String {
        let mut lines = String::new();
        if let Some(tls) = self.tls {
            let kind = if tls.is_self_signed { "self-signed certificate" } else { "certificate" };
            lines = format!("  TLS     {kind}, SHA-256 {}\n", tls.fingerprint());
        }
        if let Some(from) = self.redirect {
            lines.push_str(&format!("          http://{from}/ redirects to HTTPS\n"));
        }
        lines
    }

    fn access_line(&self) -> String {
        match self.access {
            None => format!("open to everyone who can reach {}", self.address),
            Some(access::Options { keys, tokens: None }) => {
                format!("API keys in {}; create one: josh keys add NAME", keys.display())
            }
            Some(access::Options { keys, tokens: Some(tokens) }) => {
                format!(
                    "API keys in {0}, and tokens from {1} for the subjects in {0}",
                    keys.display(),
                    tokens.issuer
                )
            }
        }
    }

    fn example(&self) -> String {
        let bundle = self.bundle;
        let first = bundle
            .source("bills")
            .and_then(|(s, _)| bundle.records().by_number(bundle.first_number(s)));
        match bundle.records().by_id("hr:119:1").map(|(_, entry)| entry).or(first) {
            Some(entry) => format!("/v1/fetch/{}", entry.id),
            None => "/v1/sources".to_string(),
        }
    }
}
