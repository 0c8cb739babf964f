//! `josh serve`: listen, print the banner, serve until a signal says stop.

use std::any::Any;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
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
use socket2::{Domain, Protocol, Type};
use tokio_util::sync::CancellationToken;

use super::{Unusable, hand_out, open, reload};
use crate::banner::Banner;
use crate::boj::Live;
use crate::catalog::ids;
use crate::executor::Executor;
use crate::http::{self, AccessGuard, AppParts, Socket, Stopping};
use crate::output::note;
use crate::settings::Settings;
use crate::telemetry;
use crate::tls::Tls;
use crate::wizard::Forms;

/// How long a client may take to send the head of a request, for the TLS handshake, and to receive
/// what we send.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
#[cfg(target_os = "linux")]
const SEND_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a connection may be idle. Longer than clients keep one for their next request (Python's
/// httpx 5 s, Node 4 s, load balancers 60 s), so that they close it, and not we: actix looks at its
/// timer before it looks for a request, and a request that came in time, while the machine was
/// busy, would be lost.
const KEEP_ALIVE: Duration = Duration::from_secs(75);

/// How long open requests get to finish after a signal; with default limits none takes longer.
const SHUTDOWN_SECONDS: u64 = 30;

/// How long calls in sessions get to finish after a signal, before their streams are ended.
const STREAM_TIME: Duration = Duration::from_secs(1);

/// Said to a client that called by a name which may be anybody's.
const UNKNOWN_HOST: &str = "Use HTTPS. This name of the server is not known to it: the operator \
    gives it with --public-url or --mcp-hosts.\n";

/// Connections that may wait to be accepted: room for many clients at once.
const BACKLOG: i32 = 2048;

pub fn run(settings: Settings) -> Result<ExitCode> {
    let audit = settings.audit_log.as_deref();
    let has_forms = settings.forms.is_some();
    let _log = telemetry::start(&settings.log, settings.log_format, audit, has_forms)
        .map_err(Unusable::because)?;
    for warning in &settings.warnings {
        tracing::warn!("{warning}");
    }
    let tls = settings.tls.as_ref().map(Tls::new).transpose().map_err(Unusable::because)?;
    let tls = tls.map(Arc::new);
    let grammar = std::thread::Builder::new().spawn(ids::prepare);
    let bundle = open(settings.bundle.as_deref(), settings.open.clone())?;
    let toolsets = settings.toolsets.clone();
    let forms = settings.forms.clone().map(Forms::open).transpose().map_err(Unusable)?;
    let (budget, limits) = (settings.budget, settings.concurrency);
    let executor = Executor::with_forms(bundle, toolsets, budget, limits, forms)?;
    if let Some(boj) = settings.boj.clone() {
        executor.ask_bank(Live::new(boj))?;
    }
    let executor = web::Data::new(executor);
    let guard = web::Data::new(AccessGuard::new(&settings));
    let parts = AppParts::new(executor.clone(), guard.clone(), &settings.mcp);
    // A panic there would happen again in the first request with an id, with a better message.
    let _ = grammar.map(|grammar| grammar.join());
    rt::System::new().block_on(async {
        if let Some(access) = &guard.access {
            access.prepare().await.map_err(Unusable)?;
        }
        // Before the banner: whoever reads it may send signals.
        let hangups = signal(SignalKind::hangup())?;
        let stop = StopSignals::new()?;
        let (reloads, stopping) = (parts.reloads.clone(), parts.stopping.clone());
        let listener = listen(settings.listen, "--listen")?;
        let server = HttpServer::new(move || http::app(parts.clone()))
            .workers(settings.workers)
            // A response is sent when it is written, also in two parts.
            .tcp_nodelay(true)
            // A client that closes its side has gone: its work is stopped, not finished for nobody.
            .h1_allow_half_closed(false)
            .client_request_timeout(HEAD_TIMEOUT)
            .keep_alive(KEEP_ALIVE)
            .tls_handshake_timeout(HANDSHAKE_TIMEOUT)
            .on_connect(|connection, extensions| {
                if let Some(socket) = socket(connection) {
                    extensions.insert(socket);
                }
            })
            .shutdown_signal(stop.received(Shutdown {
                stopping,
                drain: settings.drain,
                external: executor.stop.clone(),
                streams: settings.mcp.stop.clone(),
            }))
            .shutdown_timeout(SHUTDOWN_SECONDS);
        let server = match &tls {
            None => server.listen(listener)?,
            Some(tls) => {
                server.listen_rustls_0_23(listener, tls.config().map_err(Unusable::because)?)?
            }
        };
        let address = server.addrs().first().copied().context("no address was bound")?;
        let here = format!("{}://{address}", if tls.is_some() { "https" } else { "http" });
        let base_url = settings.public_url.as_deref().unwrap_or(&here);
        hand_out(&executor, &settings.client_configs, Some(base_url))?;
        let redirect = settings.tls.as_ref().and_then(|tls| tls.redirect);
        let redirect = redirect
            .map(|from| {
                redirect_to_https(from, address, settings.public_url.clone(), &settings.mcp.hosts)
            })
            .transpose()?;
        let banner = Banner {
            address,
            bundle: &executor.bundle(),
            is_sample: settings.bundle.is_none(),
            public_url: settings.public_url.as_deref(),
            tls: tls.as_deref(),
            access: settings.access.as_ref(),
            redirect: redirect.as_ref().map(|(from, _)| *from),
            forms: executor.forms().map(|forms| forms.summary()),
        };
        note!("{}", banner.text().trim_end());
        let first = executor.bundle();
        // Without a thread the first search does it.
        let _ = std::thread::Builder::new().spawn(move || first.prepare_search());
        let trying = executor.forms().and_then(|forms| forms.try_browser(executor.stop.clone()));
        let running = server.run();
        let redirecting = redirect.map(|(_, server)| (server.handle(), rt::spawn(server)));
        let watching = rt::spawn(reload::watch(executor, reloads, guard, tls, hangups));
        // Without systemd nobody waits for this.
        let _ = sd_notify::notify(false, &[sd_notify::NotifyState::Ready]);
        running.await?;
        watching.abort();
        // Its browser is gone before we are: it was told to stop.
        let _ = trying.map(std::thread::JoinHandle::join);
        if let Some((handle, _)) = redirecting {
            handle.stop(true).await;
        }
        tracing::info!("stopped");
        Ok(ExitCode::SUCCESS)
    })
}

/// What a signal to stop does, in this order.
struct Shutdown {
    stopping: web::Data<Stopping>,
    drain: Duration,
    /// Runs of forms, which may take minutes.
    external: CancellationToken,
    /// Streams, which would never finish.
    streams: CancellationToken,
}

/// SIGINT and SIGTERM.
struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
}

impl StopSignals {
    fn new() -> io::Result<StopSignals> {
        Ok(StopSignals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.terminate.recv() => "SIGTERM",
        }
    }

    /// Completes when no more connections are to be accepted: at the first signal, or when callers
    /// have had the time to go elsewhere. The second signal ends the process without waiting.
    async fn received(mut self, shutdown: Shutdown) {
        let signal = self.next().await;
        tracing::info!(signal, "stopping: finishing open requests");
        shutdown.stopping.begin();
        rt::spawn(async move {
            let signal = self.next().await;
            note!("josh: {signal} again: stopped without finishing open requests");
            std::process::exit(1);
        });
        rt::time::sleep(shutdown.drain).await;
        shutdown.external.cancel();
        rt::spawn(async move {
            rt::time::sleep(STREAM_TIME).await;
            shutdown.streams.cancel();
        });
    }
}

/// The socket of a connection, plain or TLS.
fn socket(connection: &dyn Any) -> Option<Socket> {
    type Secure = actix_tls::accept::rustls_0_23::TlsStream<TcpStream>;
    let plain = connection.downcast_ref::<TcpStream>();
    let secure = || connection.downcast_ref::<Secure>().map(|stream| stream.get_ref().0);
    plain.or_else(secure).map(|stream| Socket(stream.as_raw_fd()))
}

fn listen(address: SocketAddr, flag: &str) -> Result<TcpListener> {
    let listener = bind(address).map_err(|e| {
        Unusable(format!("cannot listen on {address}: {e}. Choose another address with {flag}"))
    })?;
    Ok(listener)
}

fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket =
        socket2::Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // As in the standard library: a restart need not wait until old connections have expired.
    socket.set_reuse_address(true)?;
    // Connections inherit it: one whose client receives nothing for so long is closed.
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(SEND_TIMEOUT))?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// A server for plain HTTP that redirects to HTTPS: to the public address, or to the name or
/// address by which it was called, if that is known to be this server's.
fn redirect_to_https(
    from: SocketAddr,
    to: SocketAddr,
    public_url: Option<String>,
    hosts: &[String],
) -> Result<(SocketAddr, Server)> {
    let listener = listen(from, "--tls-redirect")?;
    let bound = listener.local_addr()?;
    let hosts: Arc<[String]> = hosts.into();
    let is_known = move |name: &str| {
        let bare = name.trim_start_matches('[').trim_end_matches(']');
        bare == "localhost"
            || bare.parse::<IpAddr>().is_ok()
            || hosts.iter().any(|host| host.eq_ignore_ascii_case(name))
    };
    let answer = move |request: HttpRequest| {
        let base = public_url.clone().or_else(|| {
            let called = http::host(request.uri(), request.headers())?;
            let name = called
                .rsplit_once(':')
                .filter(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()));
            let name = name.map_or(called, |(name, _)| name);
            is_known(name).then(|| match to.port() {
                443 => format!("https://{name}"),
                port => format!("https://{name}:{port}"),
            })
        });
        let path = request.uri().path_and_query().map_or("/", |p| p.as_str()).to_string();
        async move {
            match base {
                Some(base) => HttpResponse::PermanentRedirect()
                    .insert_header((header::LOCATION, format!("{base}{path}")))
                    .finish(),
                None => HttpResponse::BadRequest().body(UNKNOWN_HOST),
            }
        }
    };
    let server = HttpServer::new(move || App::new().default_service(web::to(answer.clone())))
        .workers(1)
        .client_request_timeout(HEAD_TIMEOUT)
        .disable_signals()
        .shutdown_timeout(1)
        .listen(listener)?;
    Ok((bound, server.run()))
}
