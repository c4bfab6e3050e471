"""Which inputs does an output depend on? Problems x methods x seeds, every fit a row, and the tables made of them."""
