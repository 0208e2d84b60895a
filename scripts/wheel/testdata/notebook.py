# SPDX-License-Identifier: Apache-2.0
"""Runs the code cells of a notebook in order and compares what they print with what the notebook holds.

python notebook.py FILE [--update]
"""

import contextlib
import io
import json
import sys

path, update = sys.argv[1], "--update" in sys.argv
with open(path, encoding="utf-8") as file:
    notebook = json.load(file)
names, wrong = {}, 0
for cell in notebook["cells"]:
    if cell["cell_type"] != "code":
        continue
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile("".join(cell["source"]), cell["id"], "exec"), names)
    have = "".join(line for output in cell["outputs"] for line in output["text"])
    if out.getvalue() != have:
        wrong += 1
        print(f"{cell['id']} prints\n{out.getvalue()}and {path} says\n{have}")
    text = out.getvalue().splitlines(True)
    cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": text}] if text else []
if update:
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
elif wrong:
    sys.exit(1)
