"""Time and turns: the clock, what the event loop and threads may take, and limits of the process."""
