# SPDX-License-Identifier: Apache-2.0
"""Facts as tables: data frames of pandas where that is installed, and HTML for notebooks."""

import html
from collections.abc import Mapping

# The tables of a result that say most, the first that there is.
_MAIN = ("tensors", "rows", "points", "candidates", "units", "kernels", "instances", "nodes")

# Rows of a table that a notebook shows.
_SHOWN = 60


def is_table(value):
    return isinstance(value, list) and bool(value) and all(isinstance(row, Mapping) for row in value)


def main(facts):
    """The name of the table that says most; None where there is none."""
    names = [name for name, value in facts.items() if is_table(value)]
    return next((name for name in _MAIN if name in names), names[0] if names else None)


def rows(table):
    """The rows as dicts of the same columns: an entry of an entry is one, cost.lut being cost_lut, and None is none."""
    flat = [dict(_flat(row)) for row in table]
    columns = list(dict.fromkeys(name for row in flat for name in row))
    return [{name: row.get(name) for name in columns} for row in flat]


def _flat(row, prefix=""):
    for name, value in row.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}_")
        else:
            yield prefix + name, value


def frame(table):
    """A pandas.DataFrame where pandas can be imported, else a list of dicts."""
    try:
        import pandas
    except ImportError:
        return rows(table)
    return pandas.DataFrame(rows(table))


def as_html(facts):
    """The facts for a notebook: single ones in front, then each table."""
    single, tables = [], []
    for name, value in _flat(facts):
        if is_table(value):
            tables.append((name, rows(value)))
        elif value is not None and not isinstance(value, list):
            single.append({"fact": name, "value": value})
        elif value:
            single.append({"fact": name, "value": " ".join(map(str, value))})
    if single:
        tables.insert(0, ("", single))
    return "".join(_table(name, table) for name, table in tables)


def _table(name, table):
    columns = [c for c in table[0] if not any(is_table(row[c]) for row in table)]
    text = "<table>" + (f"<caption>{html.escape(name)}</caption>" if name else "") + "<thead><tr>"
    text += "".join(f"<th>{html.escape(c)}</th>" for c in columns) + "</tr></thead><tbody>"
    for row in table[:_SHOWN]:
        text += "<tr>" + "".join(f"<td>{html.escape(_cell(row[c]))}</td>" for c in columns) + "</tr>"
    text += "</tbody></table>"
    return text + (f"<p>{len(table) - _SHOWN} more rows</p>" if len(table) > _SHOWN else "")


def _cell(value):
    if value is None:
        return ""
    if isinstance(value, list):
        return " ".join(map(_cell, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)
