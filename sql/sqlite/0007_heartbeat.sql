-- What only the drainer's process knows and the others show: why nothing can be handed to the executor.

ALTER TABLE codeRunner_drainers ADD COLUMN executor_error TEXT NULL;
ALTER TABLE codeRunner_drainers ADD COLUMN executor_down_until TEXT NULL;
