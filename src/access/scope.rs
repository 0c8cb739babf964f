//! What a caller may be allowed to do.

/// An operation declares its scope; keys and tokens carry names of scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Reads the bundle.
    Read,
    /// Acts outside it.
    Execute,
}

impl Scope {
    pub const ALL: [Scope; 2] = [Scope::Read, Scope::Execute];

    pub const fn name(self) -> &'static str {
        match self {
            Scope::Read => "josh:read",
            Scope::Execute => "josh:execute",
        }
    }

    /// The name of the same scope in the reference system, which tokens may carry.
    const fn alias(self) -> &'static str {
        match self {
            Scope::Read => "federalrunner:read",
            Scope::Execute => "federalrunner:execute",
        }
    }

    /// The scope that a key or a token names.
    pub fn read(name: &str) -> Option<Scope> {
        Scope::ALL.into_iter().find(|scope| scope.name() == name || scope.alias() == name)
    }
}
