"""One file per question; each answers with findings."""
