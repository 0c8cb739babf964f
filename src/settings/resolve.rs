//! From raw to valid settings: defaults, ranges, and which settings need or exclude each other. It
//! opens no file.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};

use super::parse::{address, host_of, network, public_url, split, within};
use super::{Auth, DEFAULT_LISTEN, FormsMode, Rate, RawSettings, Settings, TlsMode};
use tokio_util::sync::CancellationToken;

use crate::access::{self, JwksAddress};
use crate::api::Budget;
use crate::boj::{self, LiveOptions};
use crate::bundle::{DuckDbLimits, OpenOptions};
use crate::client_config;
use crate::limits::{ConcurrencySettings, cores};
use crate::mcp;
use crate::tls;
use crate::toolsets::{self, Toolsets};
use crate::wizard;

impl RawSettings {
    pub fn resolve(self) -> Result<Settings> {
        let listen = address("listen", self.listen.as_deref().unwrap_or(DEFAULT_LISTEN))?;
        let public_url = self.public_url.as_deref().map(public_url).transpose()?;
        let tls = self.tls(&listen)?;
        let mut warnings = Vec::new();
        let access = self.access(public_url.as_deref(), &mut warnings)?;
        let is_local = listen.ip().is_loopback();
        ensure!(
            is_local || tls.is_some() || self.allow_no_tls == Some(true),
            "listen: {listen} can be reached from other machines, and traffic would not be \
             encrypted. Give --tls-cert and --tls-key, or --tls self-signed; behind a proxy that \
             terminates TLS, give --allow-no-tls"
        );
        ensure!(
            is_local || access.is_some() || self.allow_no_auth == Some(true),
            "listen: {listen} can be reached from other machines, and anyone could use the \
             server. Create a key with josh keys add NAME and give --auth keys; to let everyone \
             in, give --allow-no-auth"
        );
        let toolsets = self.toolsets()?;
        let client_configs = self.client_configs(&toolsets, &listen, access.is_some())?;
        let forms = self.forms(&toolsets)?;
        let runs_forms = forms.as_ref().is_some_and(|forms| forms.mode == wizard::Mode::Run);
        ensure!(
            !runs_forms || access.is_some() || is_local,
            "forms: {listen} can be reached from other machines, and anyone could run forms from \
             this one. Give --auth keys, or --forms describe"
        );
        Ok(Settings {
            listen,
            workers: within("workers", self.workers.unwrap_or_else(cores), 1, 256)?,
            drain: Duration::from_millis(self.drain_ms.unwrap_or(0)),
            access,
            tls,
            rate: self.rate()?,
            trusted_proxies: split(&self.trusted_proxies)
                .iter()
                .map(|text| network(text))
                .collect::<Result<_>>()?,
            concurrency: self.concurrency()?,
            budget: self.budget(),
            open: OpenOptions { duckdb: self.duckdb()?, verify_key: self.verify_key.clone() },
            mcp: self.mcp(&listen, public_url.as_deref())?,
            toolsets,
            client_configs,
            boj: self.boj()?,
            forms,
            public_url,
            bundle: self.bundle,
            log: self.log.unwrap_or_else(|| "info".into()),
            log_format: self.log_format.unwrap_or_default(),
            audit_log: self.audit_log.clone(),
            warnings,
        })
    }

    fn rate(&self) -> Result<Option<Rate>> {
        let rate = NonZeroU32::new(self.rate.unwrap_or(0)).map(|per_second| {
            let burst = self.rate_burst.and_then(NonZeroU32::new);
            Rate { per_second, burst: burst.unwrap_or(per_second.saturating_add(per_second.get())) }
        });
        ensure!(
            rate.is_some() || self.rate_burst.is_none(),
            "rate_burst: it needs a rate; give one with --rate"
        );
        Ok(rate)
    }

    fn concurrency(&self) -> Result<ConcurrencySettings> {
        let defaults = ConcurrencySettings::default();
        let searches = self.searches.unwrap_or(defaults.max_concurrent);
        Ok(ConcurrencySettings {
            max_concurrent: within("searches", searches, 1, 256)?,
            max_wait: self.queue_ms.map_or(defaults.max_wait, Duration::from_millis),
            timeout: self.request_ms.map_or(defaults.timeout, Duration::from_millis),
        })
    }

    fn budget(&self) -> Budget {
        let defaults = Budget::default();
        Budget {
            rows: self.aggregate_rows.unwrap_or(defaults.rows),
            time: self.aggregate_ms.map_or(defaults.time, Duration::from_millis),
        }
    }

    fn toolsets(&self) -> Result<Toolsets> {
        let names = match split(&self.toolsets) {
            names if names.is_empty() => vec![toolsets::DEFAULT.to_string()],
            names => names,
        };
        let has_forms = self.forms.unwrap_or_default() != FormsMode::Off;
        Toolsets::read(&names, &split(&self.exclude_tools), has_forms).map_err(|why| anyhow!(why))
    }

    fn forms(&self, toolsets: &Toolsets) -> Result<Option<wizard::Options>> {
        let Some(mode) = self.forms.unwrap_or_default().mode() else {
            for (name, is_given) in [
                ("forms_dir", self.forms_dir.is_some()),
                ("forms_allow", self.forms_allow.is_some()),
                ("forms_browser", self.forms_browser.is_some()),
                ("forms_no_sandbox", self.forms_no_sandbox == Some(true)),
                ("forms_test_site", self.forms_test_site.is_some()),
            ] {
                ensure!(!is_given, "{name}: forms are off; give --forms describe or --forms run");
            }
            return Ok(None);
        };
        ensure!(
            toolsets.has_forms(),
            "forms: the toolset forms is not offered; give --toolsets policy,forms"
        );
        let defaults = wizard::Options::new(mode);
        let test_site = self.forms_test_site.as_deref().map(|text| {
            let wrong = "forms_test_site: takes an address and a hash, like 127.0.0.1:8443#HASH";
            wizard::TestSite::read(text).context(wrong)
        });
        let image_kb = self.forms_image_kb.unwrap_or(defaults.image_bytes / 1000);
        let at_once = self.forms_at_once.unwrap_or(defaults.at_once);
        Ok(Some(wizard::Options {
            folder: self.forms_dir.clone(),
            allow: self.forms_allow.is_some().then(|| split(&self.forms_allow)),
            browser: self.forms_browser.clone(),
            no_sandbox: self.forms_no_sandbox.unwrap_or(false),
            time: self.forms_ms.map_or(defaults.time, Duration::from_millis),
            at_once: within("forms_at_once", at_once, 1, 16)?,
            per_hour: self.forms_per_hour.unwrap_or(defaults.per_hour),
            image_bytes: within("forms_image_kb", image_kb, 20, 5000)? * 1000,
            test_site: test_site.transpose()?,
            ..defaults
        }))
    }

    fn client_configs(
        &self,
        toolsets: &Toolsets,
        listen: &SocketAddr,
        needs_key: bool,
    ) -> Result<client_config::Options> {
        let are_handed_out = toolsets.hand_out_client_configs();
        for (name, is_given) in
            [("profiles", self.profiles.is_some()), ("signing_key", self.signing_key.is_some())]
        {
            ensure!(
                are_handed_out || !is_given,
                "{name}: configuration for clients is not offered; give --toolsets policy,clients"
            );
        }
        ensure!(
            !are_handed_out || self.public_url.is_some() || !listen.ip().is_unspecified(),
            "public_url: configuration for clients names the address of the server, and {listen} \
             is none. Give --public-url"
        );
        Ok(client_config::Options {
            profiles: self.profiles.clone(),
            signing_key: self.signing_key.clone(),
            needs_key,
        })
    }

    fn boj(&self) -> Result<Option<LiveOptions>> {
        let address = self.boj_base_url.as_deref();
        let usual = LiveOptions::new(address.unwrap_or(boj::BANK));
        let usual = usual.map_err(|why| anyhow!("boj_base_url: {why}"))?;
        let (timeout, backoff) = (self.boj_timeout_ms, self.boj_retry_backoff_ms);
        let options = LiveOptions {
            timeout: timeout.map_or(usual.timeout, Duration::from_millis),
            retry_max: self.boj_retry_max.unwrap_or(usual.retry_max),
            retry_backoff: backoff.map_or(usual.retry_backoff, Duration::from_millis),
            ..usual.clone()
        };
        ensure!(
            address.is_some() || options == usual,
            "boj_base_url: the Bank of Japan is not asked; give --boj-base-url"
        );
        let options = options.checked().map_err(|why| anyhow!("boj: {why}"))?;
        Ok(address.map(|_| options))
    }

    fn duckdb(&self) -> Result<DuckDbLimits> {
        let threads = self.duckdb_threads.unwrap_or_else(cores);
        let memory = self.duckdb_memory.clone();
        let limits = DuckDbLimits {
            memory: memory.unwrap_or_else(|| DuckDbLimits::default().memory),
            threads: within("duckdb_threads", threads, 1, 256)?,
        };
        limits.check().map_err(|why| anyhow!("duckdb_memory: {why}"))?;
        Ok(limits)
    }

    fn tls(&self, listen: &SocketAddr) -> Result<Option<tls::Options>> {
        let certificate = match (self.tls, &self.tls_cert, &self.tls_key) {
            (None, None, None) => {
                ensure!(
                    self.tls_client_ca.is_none(),
                    "tls_client_ca: there is no TLS; give --tls-cert and --tls-key"
                );
                ensure!(
                    self.tls_redirect.is_none(),
                    "tls_redirect: there is no TLS to redirect to; give --tls-cert and --tls-key"
                );
                return Ok(None);
            }
            (Some(TlsMode::SelfSigned), None, None) => {
                let mut names: Vec<String> =
                    ["localhost", "127.0.0.1", "::1"].map(String::from).into();
                names.extend(split(&self.mcp_hosts));
                names.extend(self.public_url.as_deref().and_then(host_of).map(str::to_string));
                if !listen.ip().is_unspecified() {
                    names.push(listen.ip().to_string());
                }
                names.dedup();
                tls::Certificate::SelfSigned { names }
            }
            (None, Some(chain), Some(key)) => {
                tls::Certificate::Files { chain: chain.clone(), key: key.clone() }
            }
            (None, Some(_), None) => bail!("tls_cert: its key is missing; give it with --tls-key"),
            (None, None, Some(_)) => {
                bail!("tls_key: its certificate is missing; give it with --tls-cert")
            }
            (Some(_), ..) => bail!(
                "tls: self-signed creates its own certificate; leave out --tls-cert and --tls-key"
            ),
        };
        let redirect =
            self.tls_redirect.as_deref().map(|text| address("tls_redirect", text)).transpose()?;
        Ok(Some(tls::Options { certificate, client_ca: self.tls_client_ca.clone(), redirect }))
    }

    fn access(
        &self,
        public_url: Option<&str>,
        warnings: &mut Vec<String>,
    ) -> Result<Option<access::Options>> {
        let auth = self.auth.unwrap_or_default();
        if auth != Auth::Oauth {
            for (name, is_given) in [
                ("auth_issuer", self.auth_issuer.is_some()),
                ("auth_jwks", self.auth_jwks.is_some()),
            ] {
                ensure!(!is_given, "{name}: tokens are accepted only with --auth oauth");
            }
        }
        let tokens = match (&self.auth_issuer, &self.auth_jwks) {
            _ if auth == Auth::Disabled => return Ok(None),
            (None, None) => {
                if auth == Auth::Oauth {
                    warnings.push(
                        "auth is oauth, but auth_issuer and auth_jwks are not set: only API keys \
                         are accepted. Set auth to keys if that is intended"
                            .into(),
                    );
                }
                None
            }
            (Some(issuer), Some(jwks)) => {
                let audience = self.auth_audience.clone();
                let audience = audience
                    .or_else(|| public_url.map(|url| format!("{url}/mcp")))
                    .context("auth_audience: give it, or --public-url, from which it is derived")?;
                let jwks = JwksAddress::parse(jwks).map_err(|why| anyhow!("auth_jwks: {why}"))?;
                Some(access::TokenOptions { issuer: issuer.clone(), audience, jwks })
            }
            (Some(_), None) => bail!(
                "auth_issuer: its public keys are missing; give a file or URL with --auth-jwks"
            ),
            (None, Some(_)) => {
                bail!("auth_jwks: their issuer is missing; give it with --auth-issuer")
            }
        };
        let keys = self.keys.clone().map_or_else(access::default_key_file, Ok)?;
        Ok(Some(access::Options { keys, tokens }))
    }

    fn mcp(&self, listen: &SocketAddr, public_url: Option<&str>) -> Result<mcp::Options> {
        let mut hosts = split(&self.mcp_hosts);
        hosts.extend(public_url.and_then(host_of).map(str::to_string));
        if !listen.ip().is_unspecified() && !listen.ip().is_loopback() {
            hosts.push(listen.ip().to_string());
        }
        let origins = split(&self.mcp_origins);
        if let Some(bad) = origins.iter().find(|origin| !origin.contains("://")) {
            bail!("mcp_origins: {bad:?} is not an origin; write it like https://app.example.org");
        }
        Ok(mcp::Options {
            sessions: self.mcp_sessions.unwrap_or(false),
            bare_search: self.mcp_bare_search.unwrap_or(false),
            hosts,
            origins,
            stop: CancellationToken::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::file::parse;
    use super::*;

    fn resolved(toml: &str) -> Result<Settings> {
        parse(toml)?.resolve()
    }

    const OAUTH: &str = "auth = 'oauth'\nauth_issuer = 'https://a.example'";

    #[test]
    fn contradictory_settings_are_refused_with_what_is_missing() {
        let oauth = |rest: &str| format!("{OAUTH}\n{rest}");
        for (toml, why) in [
            ("listen = '0.0.0.0:1'", "--allow-no-tls"),
            ("listen = '0.0.0.0:1'\ntls = 'self-signed'", "--auth keys"),
            ("listen = '0.0.0.0:1'\ntls = 'self-signed'", "--allow-no-auth"),
            ("tls_cert = 'a.pem'", "--tls-key"),
            ("tls_key = 'a.pem'", "--tls-cert"),
            ("tls = 'self-signed'\ntls_cert = 'a'\ntls_key = 'b'", "leave out"),
            ("tls_redirect = '127.0.0.1:0'", "no TLS"),
            ("auth_issuer = 'https://a.example'", "--auth oauth"),
            ("auth = 'keys'\nauth_jwks = 'jwks.json'", "--auth oauth"),
            (OAUTH, "--auth-jwks"),
            ("auth = 'oauth'\nauth_jwks = 'jwks.json'", "--auth-issuer"),
            (&oauth("auth_jwks = 'https://a.example/jwks'"), "--public-url"),
            (&oauth("auth_jwks = 'http://a.example/jwks'\nauth_audience = 'j'"), "https"),
            ("workers = 0", "1 to 256"),
            ("rate_burst = 3", "--rate"),
            ("trusted_proxies = 'nginx'", "10.0.0.0/8"),
            ("duckdb_memory = 'a lot'", "1GB"),
            ("public_url = 'josh.example.org'", "https://"),
            ("mcp_origins = 'app.example.org'", "https://app.example.org"),
            ("profiles = '/etc/josh/profiles'", "--toolsets policy,clients"),
            ("signing_key = 'key.pem'", "--toolsets policy,clients"),
            ("toolsets = 'policy,forms'", "--forms describe"),
            ("forms = 'run'", "--toolsets policy,forms"),
            ("forms_browser = '/usr/bin/chromium'", "--forms describe"),
            ("forms = 'run'\ntoolsets = 'all'\nforms_at_once = 0", "1 to 16"),
            ("forms = 'run'\ntoolsets = 'all'\nforms_test_site = 'x'", "127.0.0.1:8443#HASH"),
            (
                "listen = '0.0.0.0:1'\nallow_no_tls = true\nallow_no_auth = true\n\
                 toolsets = 'forms'\nforms = 'run'",
                "--auth keys",
            ),
            (
                "listen = '0.0.0.0:1'\nallow_no_tls = true\nallow_no_auth = true\n\
                 toolsets = 'clients'",
                "--public-url",
            ),
        ] {
            let error = format!("{:#}", resolved(toml).expect_err(toml));
            assert!(error.contains(why), "{toml}: {error}");
        }
        assert!(
            resolved("listen = '0.0.0.0:1'\nallow_no_tls = true\nallow_no_auth = true").is_ok()
        );
    }

    /// Given the three modes of access, when they are resolved, then `keys` accepts API keys
    /// alone, `oauth` tokens too, and `oauth` without a server still works, with a warning.
    #[test]
    fn keys_alone_have_a_mode_of_their_own() {
        let access = |toml: &str| {
            let settings = resolved(&format!("keys = 'k'\n{toml}")).unwrap();
            (settings.access.map(|access| access.tokens.is_some()), settings.warnings)
        };
        assert_eq!(access(""), (None, vec![]));
        assert_eq!(access("auth = 'keys'"), (Some(false), vec![]));
        let full = format!("{OAUTH}\nauth_jwks = 'jwks.json'\nauth_audience = 'j'");
        assert_eq!(access(&full), (Some(true), vec![]));
        let (tokens, warnings) = access("auth = 'oauth'");
        assert_eq!(tokens, Some(false));
        assert!(warnings.len() == 1 && warnings[0].contains("Set auth to keys"), "{warnings:?}");
    }
}
