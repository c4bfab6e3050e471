"""Class labels, counts and outliers: which variables are found, and how well they predict new rows."""
