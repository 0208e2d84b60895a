# SPDX-License-Identifier: Apache-2.0
"""The command lathe: replaces this process by the program of the package."""

import os
import sys

from .program import PROGRAM, environment


def main():
    os.execve(PROGRAM, ["lathe", *sys.argv[1:]], environment())


if __name__ == "__main__":
    main()
