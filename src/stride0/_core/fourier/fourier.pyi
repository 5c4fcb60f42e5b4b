# The module has no Python functions: the transforms are registered by their names.
