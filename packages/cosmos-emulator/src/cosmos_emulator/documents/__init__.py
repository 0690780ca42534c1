"""Operations on documents, one function each, shared by single requests, batches and scripts."""
