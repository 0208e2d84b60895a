# SPDX-License-Identifier: Apache-2.0
"""Runs the program lathe and turns what it prints into results, errors and log lines."""

import importlib.util
import json
import logging
import os
import re
import subprocess
import tempfile

from . import tables

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "lathe")

# Begins the line by which the program asks for the metric of a file of outputs.
_ASKS = "metric of "

# Warnings of the program are warnings here; its notes and progress are of level INFO.
_log = logging.getLogger("lathe")


class Error(Exception):
    """What the program prints of an error: place, code, cause, notes and hint.

    code is the number in docs/errors.md, such as "L0412"; of several errors, that of the first; "" where there is none.
    """

    __module__ = "lathe"

    def __init__(self, text):
        super().__init__(text)
        found = re.search(r"(?:^|: )(L\d{4}): ", text)
        self.code = found.group(1) if found else ""


class CheckFailed(Error):
    """A command has done its work, and what it checked does not hold. facts is what it would have returned."""

    __module__ = "lathe"

    def __init__(self, text, facts):
        super().__init__(text)
        self.facts = facts


class ArgumentError(Error, TypeError):
    """An argument that the command does not have, or a value that it does not take."""

    __module__ = "lathe"


class Result(dict):
    """The facts of a command, as its --json holds them. Keys are attributes too: result.mismatches.

    str() is the table that the command prints, frame() the same as data; a notebook shows all facts as tables.
    """

    __module__ = "lathe"
    printed = ""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no fact {name!r}; there are: {', '.join(self)}") from None

    def __str__(self):
        return self.printed or repr(self)

    def frame(self, name=None):
        """A table of the facts as a pandas.DataFrame where pandas is installed, else as a list of dicts.

        name is its key, or keys with dots between them, "remedies.helping"; without it the table that says most.
        """
        if name is None:
            name = tables.main(self)
        table = self
        for key in (name or "").split("."):
            table = table.get(key) if isinstance(table, dict) else None
        if not tables.is_table(table):
            have = [key for key, value in self.items() if tables.is_table(value)]
            raise KeyError(f"no table {name!r}; there are: {', '.join(have) or 'none'}")
        return tables.frame(table)

    def keep(self, work):
        """Keeps a temporary folder as long as the result."""
        self.__dict__["work"] = work

    def _repr_html_(self):
        return tables.as_html(self)


def environment():
    """The environment of the program: PJRT's plugin comes from the package xla-cpu-pjrt where that is installed."""
    env = dict(os.environ)
    spec = None if "LATHE_PJRT_PLUGIN" in env else importlib.util.find_spec("xla_plugins")
    for folder in (spec and spec.submodule_search_locations) or ():
        plugin = os.path.join(folder, "xla_cpu_pjrt", "xla_cpu_pjrt.so")
        if os.path.exists(plugin):
            env["LATHE_PJRT_PLUGIN"] = plugin
    return env


def call(*args, answer=None):
    """Runs a command and returns its facts. Raises Error with what it prints.

    answer gives the number that the program asks for a file of outputs, see metric.py.
    """
    with tempfile.TemporaryDirectory(prefix="lathe-") as folder:
        facts, table = os.path.join(folder, "facts.json"), os.path.join(folder, "table.txt")
        with open(table, "w", encoding="utf-8") as out:
            status, text = _watch([PROGRAM, *args, f"--json={facts}"], out, answer)
        result = Result()
        if os.path.exists(facts):
            with open(facts, encoding="utf-8") as file:
                result = json.load(file, object_hook=Result)
            if isinstance(result, list):
                result = Result(rows=result)
        with open(table, encoding="utf-8") as file:
            result.printed = file.read()
    if status == 0:
        return result
    if result:
        raise CheckFailed((result.printed + text).rstrip(), result)
    if "L0801: " in text and "LATHE_PJRT_PLUGIN" not in os.environ:
        text += "  hint: pip install xla-cpu-pjrt==0.0.1 fetches it too\n"
    if status == 2:
        raise ArgumentError(_as_arguments(text.rstrip()))
    raise Error(text.rstrip() or f"lathe {args[0]} ended with status {status}")


def _as_arguments(text):
    """What the program says of flags, with the names that they have as arguments."""
    text = text.replace("unknown flag: ", "unexpected argument ").replace("lists the flags", "lists the arguments")
    return re.sub(r"--(?!help)([a-z][a-z-]*)", lambda found: found.group(1).replace("-", "_"), text)


def _watch(command, out, answer=None):
    """Runs a command, hands its lines to the log as they come, and returns its status and the text of its error."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE if answer else subprocess.DEVNULL, stdout=out,
                               stderr=subprocess.PIPE, encoding="utf-8", errors="replace", env=environment())
    text = ""
    try:
        for line in process.stderr:
            if text or line.startswith("lathe: "):
                text += line[len("lathe: "):] if line.startswith("lathe: ") else line
            elif line.startswith("warning: "):
                _log.warning("%s", line.rstrip())
            elif answer and line.startswith(_ASKS):
                process.stdin.write(f"{answer(line[len(_ASKS):-1])!r}\n")
                process.stdin.flush()
            else:
                _log.info("%s", line.rstrip())
        return process.wait(), text
    except BaseException:  # such as KeyboardInterrupt: the program removes what it has begun
        process.terminate()
        process.wait()
        raise
    finally:
        process.stderr.close()
        if answer:
            process.stdin.close()
