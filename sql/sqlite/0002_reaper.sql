-- What the reaper needs: the keys still held, found without their history, and its own mark.

CREATE INDEX idx_jobs_with_key ON codeRunner_jobs (job_id) WHERE apikey IS NOT NULL;

-- One row: when a reaper last swept, and so when the store was last seen to take a write.
CREATE TABLE codeRunner_sweeps (
  sweep_id   INTEGER PRIMARY KEY,
  last_sweep TEXT NOT NULL
);
