//! What a caller may be allowed to do.

/// An operation declares its scope; keys and tokens carry names of scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Reads the bundle.
    Read,
    /// Acts outside it.
    Execute,
    /// Reads the metrics of the server, which tell of other callers' use.
    Metrics,
}

impl Scope {
    pub const ALL: [Scope; 3] = [Scope::Read, Scope::Execute, Scope::Metrics];

    pub const fn name(self) -> &'static str {
        match self {
            Scope::Read => "josh:read",
            Scope::Execute => "josh:execute",
            Scope::Metrics => "josh:metrics",
        }
    }

    /// The name of the same scope in the reference system, which tokens may carry.
    const fn alias(self) -> Option<&'static str> {
        match self {
            Scope::Read => Some("federalrunner:read"),
            Scope::Execute => Some("federalrunner:execute"),
            Scope::Metrics => None,
        }
    }

    /// What a caller needs: whoever acts also reads what came of it.
    pub const fn needed(self) -> &'static [Scope] {
        match self {
            Scope::Read => &[Scope::Read],
            Scope::Execute => &[Scope::Read, Scope::Execute],
            Scope::Metrics => &[Scope::Metrics],
        }
    }

    /// The scope that a key or a token names.
    pub fn read(name: &str) -> Option<Scope> {
        Scope::ALL.into_iter().find(|scope| scope.name() == name || scope.alias() == Some(name))
    }
}
