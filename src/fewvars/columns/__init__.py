"""Tables with categories, dates and missing values, and the encoding of their columns as numbers."""
