// The entry of the scripts of every page.
