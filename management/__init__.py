"""What manage.py does with the blog's database: provision, seed, verify, rebuild, failures. Never deployed."""
