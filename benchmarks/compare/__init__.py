"""Groups of rows with goals, two builds against each other, and the chart of README."""
