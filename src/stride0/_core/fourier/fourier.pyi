# Nothing of this module is called from Python: the transforms are registered by their names.
