# SPDX-License-Identifier: Apache-2.0
"""Plans (docs/plan.md) as files that the program reads."""

import json
import os
from collections.abc import Mapping


def file(plan, path):
    """The path of a plan: plan itself where it is a path, else a new file at path with its text.

    plan is a path, a text, or a mapping of tables; None is the empty plan.
    """
    if isinstance(plan, os.PathLike) or isinstance(plan, str) and "\n" not in plan and "=" not in plan:
        return os.fspath(plan)
    if not isinstance(plan, str):
        plan = "\n".join(_table(name, keys) for name, keys in (plan or {}).items())
    with open(path, "w", encoding="utf-8") as out:
        out.write(plan)
    return path


def _table(name, value):
    """A table, or an array of tables."""
    if isinstance(value, (list, tuple)):
        return "\n".join(f"[[{name}]]\n" + _keys(name, one) for one in value)
    return f"[{name}]\n" + _keys(name, value)


def _keys(name, table):
    """The keys of a table, then those that are tables themselves, such as the rules of [[fold.rule]]."""
    inner = {k: v for k, v in table.items() if isinstance(v, Mapping) or
             isinstance(v, (list, tuple)) and v and all(isinstance(one, Mapping) for one in v)}
    lines = [f"{k} = {_value(v)}\n" for k, v in table.items() if k not in inner]
    return "".join(lines + [_table(f"{name}.{k}", v) for k, v in inner.items()])


def _value(value):
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(v) for v in value) + "]"
    if isinstance(value, (bool, str)):
        return json.dumps(value, ensure_ascii=False)
    return repr(int(value)) if float(value).is_integer() else repr(float(value))
