"""The table of batching rules: functions that have one, and functions that are refused."""

from __future__ import annotations

from stride0.autograd._batching import elementwise as _elementwise
from stride0.autograd._batching import indexing as _indexing
from stride0.autograd._batching import linalg as _linalg
from stride0.autograd._batching import manipulation as _manipulation
from stride0.autograd._batching import special as _special
from stride0.autograd._batching.parts import Rule, refusal, static
from stride0.autograd._rules import table as _table
from stride0.autograd._tape.tape import define_batching, define_keys

# Imported first: a batching rule belongs to a function of this table.
assert _table.VJP

BATCHING: dict[str, Rule] = {}
REFUSED: dict[str, str] = dict(_manipulation.REFUSED)

for _chapter in (_elementwise, _manipulation, _indexing, _linalg, _special):
    BATCHING |= _chapter.RULES

define_keys(_indexing.key_of_values)
for _name, _rule in BATCHING.items():
    define_batching(_name, static(_name, _rule))
for _name, _reason in REFUSED.items():
    define_batching(_name, refusal(_name, _reason))
