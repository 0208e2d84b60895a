# SPDX-License-Identifier: Apache-2.0
"""Plans: the choices of a call as the TOML text that the program reads (docs/plan.md)."""

import copy
import json
import os
from collections.abc import Mapping


def text(plan, fps=None, part=None, bits=None, dsp=None, clock=None):
    """The text of a plan. plan is a path, a text, or a mapping as docs/plan.md has it; None is the empty plan.

    fps, part, bits, dsp and clock stand for the keys that everybody sets; given beside a plan, they win.
    """
    choices = {"target": {"part": part, "clock_mhz": clock}, "quantize": {"data": bits and f"fixed({bits})",
               "weight": bits and f"fixed({bits})"}, "fold": {"mode": fps and "balance", "fps": fps, "dsp": dsp}}
    choices = {table: {k: v for k, v in keys.items() if v is not None} for table, keys in choices.items()}
    choices = {table: keys for table, keys in choices.items() if keys}
    if isinstance(plan, os.PathLike) or isinstance(plan, str) and "\n" not in plan and "=" not in plan:
        with open(plan, encoding="utf-8") as file:
            plan = file.read()
    if isinstance(plan, str):
        if not choices:
            return plan
        plan = _parse(plan)
    plan = copy.deepcopy(dict(plan or {}))
    for table, keys in choices.items():
        plan[table] = {**plan.get(table, {}), **keys}
    return "\n".join(_table(name, keys) for name, keys in plan.items())


def _parse(plan):
    try:
        import tomllib  # since Python 3.11
    except ImportError:
        raise TypeError("fps, part, bits, dsp and clock beside the text of a plan need Python 3.11: "
                        "write them into the plan, or give it as a dict") from None
    return tomllib.loads(plan)


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
