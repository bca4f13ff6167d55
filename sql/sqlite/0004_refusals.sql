-- How many submissions were refused in an hour, so that a flood of them stays a bounded number of rows.

-- One row an account and hour of UTC; the empty hash counts everybody. execution_id: the row that
-- counts those beyond what is kept. Hours before the last one are deleted.
CREATE TABLE codeRunner_refusals (
  hour           TEXT NOT NULL,
  subdomain_hash TEXT NOT NULL,
  kept           INTEGER NOT NULL,
  rejected       INTEGER NOT NULL,
  does_not_parse INTEGER NOT NULL,
  execution_id   INTEGER NULL,
  PRIMARY KEY (hour, subdomain_hash)
) WITHOUT ROWID;
