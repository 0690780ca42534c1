"""The blog's own code: models, data access, propagation, HTTP. Knows nothing of what stands below or beside it."""
