-- What outlives a gate: when its key last met a 429, and how long it was closed without a run since.

ALTER TABLE codeRunner_gates ADD COLUMN limited_at TEXT NULL;
ALTER TABLE codeRunner_gates ADD COLUMN longest_ms INTEGER NOT NULL DEFAULT 0;

-- Whether a run of a key that began after its gate opened has ended.
CREATE INDEX idx_executions_key_started ON codeRunner_executions (apikey_hash, started_at);
