"""Parts that nothing else depends on: docs/architecture.md#core-and-add-ons."""
