"""Which few inputs an output depends on."""
