#!/usr/bin/env python3
"""Measures the compiled weights on a feature file (`nudge relevance FILE --features`): F1 with an interval, baselines, and how
well scores are calibrated. The measure of record is `nudge relevance` itself; see docs/relevance.md."""

import argparse

import numpy as np

from plot import calibration
from train import load, read, score, scores


def interval(truth, found, logs, random):
    """The middle 95 % of F1 over samples of whole logs, drawn with replacement."""
    names = np.unique(logs)
    right = np.array([np.sum(truth & found & (logs == name)) for name in names])
    seen = np.array([np.sum(found & (logs == name)) for name in names])
    real = np.array([np.sum(truth & (logs == name)) for name in names])
    draws = random.integers(0, len(names), (2000, len(names)))
    values = 2 * right[draws].sum(1) / (seen[draws].sum(1) + real[draws].sum(1))
    return np.quantile(values, [0.025, 0.975])


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("features")
    arguments.add_argument("--weights", default="Sources/C/CRelevance/Weights")
    arguments.add_argument("--part", default="validation", choices=["training", "validation", "held-out"])
    arguments.add_argument("--plot", help="an SVG file for the calibration")
    options = arguments.parse_args()
    features, truth, parts, about = read(options.features)
    width = len(about["features"])
    logs = np.fromfile(options.features, dtype=np.uint8).reshape(-1, width + 3)[:, width + 1 :].astype(int) @ [1, 256]
    chosen = parts == options.part
    features, truth, logs = features[chosen], truth[chosen], logs[chosen]
    names = about["features"]
    random = np.random.default_rng(1)
    value = score(features, load(options.weights))
    print(f"{options.part}: {len(np.unique(logs))} logs, {len(truth)} pairs, {truth.sum()} true")

    def show(name, found):
        precision, recall, f1 = scores(truth, found)
        low, high = interval(truth, found, logs, random)
        print(f"{name:28} P {precision:.3f} R {recall:.3f} F1 {f1:.3f} ({low:.3f} to {high:.3f})")

    show("names the person", features[:, names.index("person.addressed")] >= 3)
    for limit in (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        show(f"score from {limit}", value >= limit)
    print("score          pairs  mean score  part for the person")
    rows = []
    for low in np.arange(0, 1, 0.1):
        inside = (value >= low) & (value < low + 0.1)
        rows.append((int(inside.sum()), float(value[inside].mean()), float(truth[inside].mean())))
        print(f"{low:.1f} to {low + 0.1:.1f} {inside.sum():10d}  {value[inside].mean():10.3f}  {truth[inside].mean():.3f}")
    if options.plot:
        calibration(rows, options.plot)


main()
