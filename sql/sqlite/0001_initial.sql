-- The first schema: the rows of contract section 4 and the project's own tables.
-- Times are TEXT in UTC, "2026-08-24 12:08:00.000"; they compare as text.
-- A statement ends with a semicolon at the end of its line and nowhere else.

CREATE TABLE codeRunner_executions (
  execution_id   INTEGER PRIMARY KEY AUTOINCREMENT,
  job_id         INTEGER NULL,
  subdomain      TEXT NULL,
  subdomain_hash TEXT NULL,
  identifier     TEXT NULL,
  status         TEXT NOT NULL DEFAULT 'running',
  error_code     INTEGER NULL,
  error_message  TEXT NULL,
  source_code    TEXT NULL,
  debug          INTEGER DEFAULT 0,
  queued_at      TEXT NULL,
  started_at     TEXT NULL,
  finished_at    TEXT NULL,
  apikey_hash    TEXT NULL,
  run_id         TEXT NULL,
  executor_id    TEXT NULL
);

CREATE INDEX idx_executions_account ON codeRunner_executions (subdomain_hash);
CREATE INDEX idx_executions_started ON codeRunner_executions (started_at);
CREATE INDEX idx_executions_job ON codeRunner_executions (job_id);
CREATE INDEX idx_executions_status_started ON codeRunner_executions (status, started_at);
CREATE INDEX idx_executions_status_queued ON codeRunner_executions (status, queued_at);
-- Lane heads by skip scan, admission counts and figures, all from the index alone.
CREATE INDEX idx_executions_lane
  ON codeRunner_executions (status, subdomain_hash, apikey_hash, queued_at, execution_id);
-- One state's rows, newest first, without a sort.
CREATE INDEX idx_executions_status ON codeRunner_executions (status, execution_id);

CREATE TABLE codeRunner_jobs (
  job_id              INTEGER PRIMARY KEY AUTOINCREMENT,
  apikey              TEXT NULL,
  payload             TEXT NULL,
  nonce_hash          TEXT NULL,
  started_at          TEXT NULL,
  drainer_id          TEXT NULL,
  dispatch_attempts   INTEGER DEFAULT 0,
  last_dispatch_error TEXT NULL,
  not_before          TEXT NULL,
  admission_ref       TEXT NULL,
  subdomain_hash      TEXT NULL,
  idempotency_key     TEXT NULL,
  request_hash        TEXT NULL
);

CREATE UNIQUE INDEX idx_jobs_admission_ref ON codeRunner_jobs (admission_ref);
CREATE UNIQUE INDEX idx_jobs_idempotency ON codeRunner_jobs (subdomain_hash, idempotency_key);
CREATE INDEX idx_jobs_nonce ON codeRunner_jobs (nonce_hash);

CREATE TABLE codeRunner_logs (
  log_id       INTEGER PRIMARY KEY AUTOINCREMENT,
  execution_id INTEGER NOT NULL,
  at           TEXT NOT NULL,
  level        TEXT NOT NULL,
  message      TEXT NOT NULL,
  api_call     TEXT NULL
);

CREATE INDEX idx_logs_execution ON codeRunner_logs (execution_id, log_id);

-- One row a key that was ever gated; closed while until_at is in the future.
CREATE TABLE codeRunner_gates (
  apikey_hash TEXT PRIMARY KEY,
  until_at    TEXT NOT NULL,
  first_seen  TEXT NOT NULL,
  last_seen   TEXT NOT NULL,
  hint_ms     INTEGER NULL,
  status      INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX idx_gates_until ON codeRunner_gates (until_at);

-- Each drainer's last tick: what tells an idle drainer from a dead one.
CREATE TABLE codeRunner_drainers (
  drainer_id TEXT PRIMARY KEY,
  last_tick  TEXT NOT NULL
) WITHOUT ROWID;

CREATE INDEX idx_drainers_tick ON codeRunner_drainers (last_tick);

-- One row a paused account; the empty hash pauses everybody.
CREATE TABLE codeRunner_pauses (
  subdomain_hash TEXT PRIMARY KEY,
  paused_at      TEXT NOT NULL
) WITHOUT ROWID;
