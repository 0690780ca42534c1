"""The timer trigger: schedules, missed firings and a lock per timer."""
