"""The timer trigger: schedules, their monitor, and the one listener that fires among several hosts."""
