"""What the tests from outside stand on: real processes, bounded waits, rows read from the store."""
