"""Nested tuples, lists, dicts and dataclasses of arrays: flattened and rebuilt."""

cimport cython

from stride0._core.array.array cimport Array
from stride0._core.memory.dtype cimport DType

import dataclasses

from stride0._base.errors import ArgumentValueError

cdef enum:
    DEEPEST = 100  # most levels of a structure; one that contains itself is deeper


@cython.final
cdef class Structure:
    """A nested structure without its leaves; in `parts`, None stands for a leaf."""

    cdef object kind
    cdef tuple keys            # keys of a dict
    cdef object factory        # factory of a defaultdict
    cdef tuple fields          # names of a dataclass
    cdef list parts
    cdef bint leaf             # whether the whole is one leaf
    cdef object constant       # a value that is not a leaf
    cdef bint is_constant

    def rebuild(self, leaves, bint constants=True):
        """Return a tree of this structure with the given leaves, and with its constants or None instead of them."""
        given = iter(leaves)
        out = assembled(self, given, constants)
        if next(given, self) is not self:
            raise ValueError("rebuild: more leaves than the structure has")
        return out


    def leaves_of(self, tree):
        """
        Return the leaves of a tree with this structure, in the order of the structure.

        Dicts may have the same keys in any order. None instead of a part means that all its leaves are None. Raises ValueError
        if the tree has another structure.
        """
        cdef list leaves = []
        if self.leaf:
            return [tree]
        gather_leaves(self, tree, leaves)
        return leaves


cdef int gather_leaves(Structure structure, object tree, list leaves) except -1:
    if structure is None:
        leaves.append(tree)
        return 0
    if structure.is_constant:
        return 0
    if structure.kind is None:
        if tree is not None:
            raise ValueError("something in the place of None")
        return 0
    if tree is None:
        items = [None] * len(structure.parts)
    elif structure.fields is not None:
        if type(tree) is not structure.kind:
            raise ValueError(f"a {structure.kind.__name__} was expected")
        items = [getattr(tree, name) for name in structure.fields]
    elif structure.keys is not None:
        if not isinstance(tree, dict) or set(tree) != set(structure.keys):
            raise ValueError(f"a dict with the keys {list(structure.keys)} was expected")
        items = [tree[key] for key in structure.keys]
    else:
        if not isinstance(tree, (tuple, list)) or len(tree) != len(structure.parts):
            raise ValueError(f"a {structure.kind.__name__} of {len(structure.parts)} was expected")
        items = tree
    for part, item in zip(structure.parts, items):
        gather_leaves(part, item, leaves)
    return 0


cdef object assembled(Structure structure, object given, bint constants):
    cdef list out = []
    if structure.leaf:
        return next(given)
    if structure.is_constant:
        return structure.constant if constants else None
    if structure.kind is None:
        return None
    for part in structure.parts:
        out.append(next(given) if part is None else assembled(<Structure>part, given, constants))
    if structure.fields is not None:
        # Without `__init__`, which may check or convert its arguments.
        made = object.__new__(structure.kind)
        for name, item in zip(structure.fields, out):
            object.__setattr__(made, name, item)
        return made
    if structure.keys is not None:
        pairs = zip(structure.keys, out)
        return structure.kind(structure.factory, pairs) if structure.factory is not None else structure.kind(pairs)
    return structure.kind(*out) if hasattr(structure.kind, "_fields") else structure.kind(out)


cdef Structure ONE_LEAF = Structure()
ONE_LEAF.leaf = True


def flatten(tree, int aside=0):
    """
    Return the leaves of a tree, and the structure, which can `rebuild` a tree from other leaves.

    A tree consists of nested tuples, lists, dicts and dataclasses. All other values are leaves, except None, which belongs to
    the structure.

    Parameters
    ----------
    tree : nested structure
        The tree.
    aside : int
        The depth from which on integers, strings, dtypes and functions belong to the structure too, because they have no
        derivative. 0: they are leaves at any depth.

    Returns
    -------
    list
        The leaves in order.
    Structure
        The structure without its leaves.

    Raises
    ------
    ArgumentValueError
        If the tree is too deep, for example because it contains itself.
    """
    cdef list leaves = []
    cdef Structure structure = flattened(tree, leaves, 0, aside)
    return leaves, ONE_LEAF if structure is None else structure


cdef Structure flattened(object tree, list leaves, int depth, int aside):
    cdef Structure out
    if depth > DEEPEST:
        raise ArgumentValueError("flatten", f"a structure of more than {DEEPEST} levels", (), "nested tuples, lists and dicts that do not contain themselves")
    if type(tree) is Array:
        leaves.append(tree)
        return None
    if tree is None:
        return Structure()
    if isinstance(tree, dict):
        out = Structure()
        out.keys, items = tuple(tree), tree.values()
        out.factory = getattr(tree, "default_factory", None)
    elif isinstance(tree, (tuple, list)):
        out = Structure()
        items = tree
    elif hasattr(type(tree), "__dataclass_fields__"):
        out = Structure()
        out.fields = tuple([field.name for field in dataclasses.fields(tree)])
        items = [getattr(tree, name) for name in out.fields]
    elif aside and depth >= aside and (isinstance(tree, (int, str, bytes, DType)) or callable(tree)):
        out = Structure()
        out.constant, out.is_constant = tree, True
        return out
    else:
        leaves.append(tree)
        return None
    out.kind = type(tree)
    out.parts = [flattened(item, leaves, depth + 1, aside) for item in items]
    return out


def tree_map(function, tree):
    """Return a tree with the structure of `tree`, with `function` applied to each leaf."""
    if type(tree) is Array:
        return function(tree)
    leaves, structure = flatten(tree)
    return (<Structure?>structure).rebuild([function(leaf) for leaf in leaves])
