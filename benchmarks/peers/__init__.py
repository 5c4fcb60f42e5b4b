"""stride0 and the libraries that compete with it in one field each, in their newest releases."""
