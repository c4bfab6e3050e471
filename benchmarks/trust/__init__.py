"""Does the answer agree with new rows, and with the next shuffle? Data x methods x splits, every fit a row."""
