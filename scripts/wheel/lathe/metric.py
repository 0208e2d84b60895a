# SPDX-License-Identifier: Apache-2.0
"""Metrics that are functions: the program asks for the figure of a file of outputs and waits for the answer."""

import math
from collections.abc import Mapping

import numpy

from . import arrays

# The array of the file that says which samples of the inputs it is about.
_PLACES = "samples of the file"


def asked(flags, folder):
    """The flags by which the program asks for a metric that is a function, and the function of a file that answers."""
    metric, labels = flags["metric"], _read(flags.get("labels"))
    name = getattr(metric, "__name__", "")
    name = name if name.isidentifier() else "metric"

    def answer(path):
        with numpy.load(path, allow_pickle=False) as file:
            outputs = dict(file)
        places = outputs.pop(_PLACES)
        outputs = outputs if len(outputs) != 1 else next(iter(outputs.values()))
        score = float(metric(outputs, _at(labels, places)))
        if not math.isfinite(score):
            raise ValueError(f"{name} returned {score}, which no search can compare")
        return score

    return {**flags, "labels": None, "metric": name, "metric_calls": folder}, answer


def _read(labels):
    """Labels as arrays; None stays."""
    if labels is None:
        return None
    if isinstance(labels, Mapping):
        return {name: arrays.array(one) for name, one in labels.items()}
    if arrays.is_path(labels):
        labels = numpy.load(labels, allow_pickle=False)
        return labels if isinstance(labels, numpy.ndarray) else _read(dict(labels))
    return arrays.array(labels)


def _at(labels, places):
    """The labels of the samples at some places."""
    if isinstance(labels, dict):
        return {name: one[places] for name, one in labels.items()}
    return None if labels is None else labels[places]
