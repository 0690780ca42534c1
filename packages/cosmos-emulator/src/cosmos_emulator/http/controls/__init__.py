"""The paths of the emulator itself, below `/_emulator`."""
