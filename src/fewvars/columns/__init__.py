"""Tables as people have them, with categories, dates and missing values, and how their columns become numbers."""
