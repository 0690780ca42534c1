"""HTTP around the blog: parsing requests, mapping errors, writing answers, describing it all."""
