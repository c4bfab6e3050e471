"""Which few linear combinations of the inputs an output depends on."""
