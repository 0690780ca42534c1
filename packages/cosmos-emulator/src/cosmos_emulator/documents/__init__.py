"""Operations on documents, shared by single requests, batches and scripts."""
