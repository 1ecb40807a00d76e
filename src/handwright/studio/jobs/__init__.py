"""Jobs and the processes that do them."""
