-- What operators set beyond the settings, and who did what.

-- One row an account whose cap is its own.
CREATE TABLE codeRunner_accounts (
  subdomain_hash TEXT PRIMARY KEY,
  per_account    INTEGER NOT NULL
) WITHOUT ROWID;

-- One row an act of an operator; the subject is an account, an execution, a key's hash, or "all".
CREATE TABLE codeRunner_audit (
  audit_id INTEGER PRIMARY KEY AUTOINCREMENT,
  at       TEXT NOT NULL,
  actor    TEXT NOT NULL,
  action   TEXT NOT NULL,
  subject  TEXT NOT NULL,
  details  TEXT NOT NULL
);

CREATE INDEX idx_audit_at ON codeRunner_audit (at);
