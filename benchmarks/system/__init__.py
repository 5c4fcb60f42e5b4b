"""Memory, threads, exchange, import, instructions."""
