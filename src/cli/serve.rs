//! `josh serve`: bind, say so, serve, and take up new bundles and certificates on the way.

use std::any::Any;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsRawFd;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Server;
use actix_web::http::header;
use actix_web::rt::net::TcpStream;
use actix_web::rt::signal::unix::{Signal, SignalKind, signal};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, rt, web};
use anyhow::{Context, Result};

use super::{Unusable, open};
use crate::banner::Banner;
use crate::bundle::Stamp;
use crate::catalog::ids;
use crate::http::{self, Door, Socket};
use crate::service::Josh;
use crate::settings::Settings;
use crate::telemetry;
use crate::tls::Tls;

/// How often files are looked at. A change is taken up once a file has stayed the same for one more look.
const LOOK: Duration = Duration::from_secs(1);

/// How long a client may take to send a request's head, to shake hands, to read what we send.
const HEAD_TIME: Duration = Duration::from_secs(10);
const HANDSHAKE_TIME: Duration = Duration::from_secs(10);
const READ_TIME: Duration = Duration::from_secs(30);

/// How long requests that run get to end after SIGTERM; none takes longer by the default limit.
const LAST_SECONDS: u64 = 30;

pub fn run(settings: Settings) -> Result<ExitCode> {
    let unusable = |error: anyhow::Error| Unusable(format!("{error:#}"));
    let _log = telemetry::start(&settings.log, settings.log_format).map_err(unusable)?;
    let tls = settings.tls.as_ref().map(Tls::new).transpose().map_err(unusable)?.map(Arc::new);
    let grammar = std::thread::spawn(ids::prepare);
    let bundle = open(settings.bundle.as_deref(), settings.engine.clone())?;
    let josh = web::Data::new(Josh::new(bundle, settings.limits, settings.load));
    let door = web::Data::new(Door::new(&settings));
    // A panic there would meet the first request that reads an id, with a better message than ours.
    let _ = grammar.join();
    rt::System::new().block_on(async {
        if let Some(access) = &door.access {
            access.prepare().await.map_err(|why| Unusable(format!("auth_jwks: {why}")))?;
        }
        let (app, guard) = (josh.clone(), door.clone());
        let mcp = http::mcp_service(josh.clone().into_inner(), &settings.mcp);
        let sessions = settings.mcp.sessions;
        let listener = listen(settings.listen)?;
        let server = HttpServer::new(move || http::app(app.clone(), guard.clone(), mcp.clone(), sessions))
            .workers(settings.workers)
            // DuckDB runs its own threads: more queries at once only wait for each other.
            .worker_max_blocking_threads(2 * settings.load.at_once + 2)
            // An answer goes out when it is written, also in two parts.
            .tcp_nodelay(true)
            .client_request_timeout(HEAD_TIME)
            .tls_handshake_timeout(HANDSHAKE_TIME)
            .on_connect(|connection, extensions| {
                if let Some(socket) = socket(connection) {
                    extensions.insert(socket);
                }
            })
            .shutdown_timeout(LAST_SECONDS);
        let server = match &tls {
            None => server.listen(listener)?,
            Some(tls) => server.listen_rustls_0_23(listener, tls.config().map_err(unusable)?)?,
        };
        let address = server.addrs().first().copied().context("no address was bound")?;
        let redirect = settings.tls.as_ref().and_then(|tls| tls.redirect);
        let redirect =
            redirect.map(|from| redirect_to_https(from, address, settings.public_url.clone())).transpose()?;
        // From here on SIGHUP reloads: whoever reads the banner may send it.
        let hangups = signal(SignalKind::hangup())?;
        let banner = Banner {
            address,
            bundle: &josh.bundle(),
            is_sample: settings.bundle.is_none(),
            public_url: settings.public_url.as_deref(),
            tls: tls.as_deref(),
            access: settings.access.as_ref(),
            redirect: redirect.as_ref().map(|(from, _)| *from),
        };
        eprint!("{}", banner.text());
        let first = josh.bundle();
        std::thread::spawn(move || first.prepare_search());
        let running = server.run();
        let redirecting = redirect.map(|(_, server)| (server.handle(), rt::spawn(server)));
        let watching = rt::spawn(watch(josh, tls, hangups));
        // Nobody waits for this where there is no systemd.
        let _ = sd_notify::notify(false, &[sd_notify::NotifyState::Ready]);
        running.await?;
        watching.abort();
        if let Some((handle, _)) = redirecting {
            handle.stop(true).await;
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// The socket of a connection, plain or TLS.
fn socket(connection: &dyn Any) -> Option<Socket> {
    type Secure = actix_tls::accept::rustls_0_23::TlsStream<TcpStream>;
    let plain = connection.downcast_ref::<TcpStream>();
    let secure = || connection.downcast_ref::<Secure>().map(|stream| stream.get_ref().0);
    plain.or_else(secure).map(|stream| Socket(stream.as_raw_fd()))
}

fn listen(address: SocketAddr) -> Result<TcpListener> {
    let cannot = |e: std::io::Error| Unusable(format!("cannot listen on {address}: {e}. Choose another with --listen"));
    let listener = TcpListener::bind(address).map_err(cannot)?;
    let patience = READ_TIME.as_millis() as libc::c_uint;
    // SAFETY: the socket is open, and the option is a number of this size. Connections inherit it: one whose other end takes
    // nothing of what we send for so long is closed.
    unsafe {
        libc::setsockopt(
            listener.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_USER_TIMEOUT,
            (&raw const patience).cast(),
            size_of_val(&patience) as libc::socklen_t,
        );
        // Room for a crowd that comes at once.
        libc::listen(listener.as_raw_fd(), 2048);
    }
    Ok(listener)
}

/// A server of plain HTTP that sends everyone to HTTPS.
fn redirect_to_https(from: SocketAddr, to: SocketAddr, public_url: Option<String>) -> Result<(SocketAddr, Server)> {
    let listener = listen(from)?;
    let bound = listener.local_addr()?;
    let answer = move |request: HttpRequest| {
        let base = public_url.clone().or_else(|| {
            let called = http::host(request.uri(), request.headers())?;
            let name = called.rsplit_once(':').filter(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()));
            let name = name.map_or(called, |(name, _)| name);
            Some(if to.port() == 443 { format!("https://{name}") } else { format!("https://{name}:{}", to.port()) })
        });
        let path = request.uri().path_and_query().map_or("/", |p| p.as_str()).to_string();
        async move {
            match base {
                Some(base) => HttpResponse::PermanentRedirect()
                    .insert_header((header::LOCATION, format!("{base}{path}")))
                    .finish(),
                None => HttpResponse::BadRequest().body("Which host? Use https.\n"),
            }
        }
    };
    let server = HttpServer::new(move || App::new().default_service(web::to(answer.clone())))
        .workers(1)
        .client_request_timeout(HEAD_TIME)
        .disable_signals()
        .shutdown_timeout(1)
        .listen(listener)?;
    Ok((bound, server.run()))
}

/// Takes up a new bundle and a new certificate, on SIGHUP and when their files change. What can't be used is refused and the old
/// one goes on.
async fn watch(josh: web::Data<Josh>, tls: Option<Arc<Tls>>, mut hangups: Signal) {
    let mut looks = rt::time::interval(LOOK);
    let mut bundle = Watched::new(Stamp::of(&josh.bundle().path).ok());
    let mut certificate = tls.as_ref().map(|tls| Watched::new(tls.stamps()));
    loop {
        let asked = hangup_or_look(&mut hangups, &mut looks).await;
        let open = josh.bundle();
        if bundle.is_due(Stamp::of(&open.path).ok(), asked) {
            let opening = josh.clone();
            match web::block(move || opening.reload()).await {
                Ok(Ok(new)) => {
                    josh.offered("bundle", None);
                    tracing::info!(bundle = %new.manifest.id, as_of = %new.manifest.as_of, "bundle swapped");
                }
                Ok(Err(error)) => {
                    tracing::error!(path = %open.path.display(), "new bundle refused, the old one goes on: {error}");
                    josh.offered("bundle", Some(error.to_string()));
                }
                Err(error) => tracing::error!(%error, "new bundle not opened"),
            }
        }
        if let (Some(tls), Some(certificate)) = (&tls, &mut certificate)
            && certificate.is_due(tls.stamps(), asked)
        {
            match tls.reload() {
                Ok(()) => {
                    josh.offered("certificate", None);
                    tracing::info!(fingerprint = tls.fingerprint(), "certificate taken up");
                }
                Err(error) => {
                    tracing::error!("new certificate refused, the old one goes on: {error:#}");
                    josh.offered("certificate", Some("its files can't be used; the log says why".into()));
                }
            }
        }
    }
}

/// A file, or several, as last looked at and as last taken up or refused.
struct Watched<S> {
    seen: S,
    done: S,
}

impl<S: Clone + PartialEq> Watched<S> {
    fn new(now: S) -> Watched<S> {
        Watched { seen: now.clone(), done: now }
    }

    /// Whether it is time to take it up: when asked to, or when it changed and then stayed the same for one look.
    fn is_due(&mut self, now: S, asked: bool) -> bool {
        let is_settled = std::mem::replace(&mut self.seen, now.clone()) == now;
        let is_due = asked || (now != self.done && is_settled);
        if is_due {
            self.done = now;
        }
        is_due
    }
}

/// Waits for a SIGHUP (true) or the next look (false).
async fn hangup_or_look(hangups: &mut Signal, looks: &mut rt::time::Interval) -> bool {
    use std::future::poll_fn;
    use std::task::Poll;
    poll_fn(|context| {
        if hangups.poll_recv(context).is_ready() {
            return Poll::Ready(true);
        }
        looks.poll_tick(context).map(|_| false)
    })
    .await
}
