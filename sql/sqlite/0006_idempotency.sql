-- The Idempotency-Keys that are still held, oldest first, without the jobs that never had one.

CREATE INDEX idx_jobs_with_idempotency ON codeRunner_jobs (job_id) WHERE idempotency_key IS NOT NULL;
