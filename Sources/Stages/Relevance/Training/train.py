#!/usr/bin/env python3
"""Trains the relevance model and writes its weights: trees.bin and about.txt in Sources/C/CRelevance/Weights.

The features come from ingest's and the analyzer's own code (`nudge relevance FILE --features`), so that nothing is computed
twice in two languages. `Sources/Stages/Relevance/Training/train FILE` does all of it. See docs/relevance.md.

Logs are split by name, never by message: CRC-32 of the name modulo 5 is 0 for those held out, 1 for validation. The model
is trained on the rest; the threshold is chosen on validation; held-out logs are read by `nudge relevance` alone.
"""

import argparse
import json
import pathlib
import struct
import sys
import zlib

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

UNIT = 65536  # log-odds in the table, as RelevanceModel.unit
# The weight of an example with names taken out of the message, or out of the whole log: the model must hold without names, and
# must not give up much where there are some.
WEIGHTS = {"kept": 1.0, "removed-from-message": 0.5, "removed": 0.3}
MODEL = dict(
    max_iter=100, learning_rate=0.12, max_leaf_nodes=24, max_depth=8, min_samples_leaf=80, l2_regularization=2.0,
    early_stopping=False, random_state=1,
)


def part(log):
    """The part of the split a log belongs to."""
    return {0: "held-out", 1: "validation"}.get(zlib.crc32(log.encode()) % 5, "training")


def read(path):
    """Features, truth and part of each example of a feature file."""
    about = json.load(open(path + ".json", encoding="utf-8"))
    width = len(about["features"])
    rows = np.fromfile(path, dtype=np.uint8).reshape(-1, width + 3)
    logs = rows[:, width + 1].astype(int) + 256 * rows[:, width + 2].astype(int)
    parts = np.array([part(log) for log in about["logs"]])[logs]
    return rows[:, :width], rows[:, width].astype(bool), parts, about


def thinned(features, truth, random):
    """All examples for the person, every fourth of the others that are plainly not: who is not addressed and wrote 24
    messages ago or earlier. Returns a mask and weights that make up for it."""
    plain = (features[:, NAMES.index("person.age")] >= 24) & (features[:, NAMES.index("person.addressed")] < 3) & ~truth
    keep = ~plain | (random.random(len(truth)) < 0.25)
    return keep, np.where(plain, 4.0, 1.0)


def scores(truth, found):
    right = np.sum(truth & found)
    precision = right / max(1, np.sum(found))
    recall = right / max(1, np.sum(truth))
    return precision, recall, 2 * precision * recall / max(1e-9, precision + recall)


def table(model, layout, count):
    """The table of RelevanceModel.init(version:table:)."""
    out = bytearray(
        struct.pack("<BBHi", layout, count, len(model._predictors), round(float(np.ravel(model._baseline_prediction)[0]) * UNIT))
    )
    for (predictor,) in model._predictors:
        nodes = predictor.nodes
        records = []

        def mean(index):
            node = nodes[index]
            if node["is_leaf"]:
                return float(node["value"]), float(node["count"])
            left, left_count = mean(int(node["left"]))
            right, right_count = mean(int(node["right"]))
            total = left_count + right_count
            return (left * left_count + right * right_count) / total, total

        def walk(index):
            node = nodes[index]
            place = len(records)
            value = round(mean(index)[0] * UNIT)
            if node["is_leaf"]:
                records.append((255, 0, 0, value))
                return
            records.append(None)
            walk(int(node["left"]))
            right = len(records) - place
            walk(int(node["right"]))
            records[place] = (int(node["feature_idx"]), int(np.floor(node["num_threshold"])), right, value)

        walk(0)
        out += struct.pack("<H", len(records))
        for record in records:
            out += struct.pack("<BBHi", *record)
    return bytes(out)


def load(folder):
    """The bias and the trees of trees.bin, as RelevanceModel.init reads them."""
    data = (pathlib.Path(folder) / "trees.bin").read_bytes()
    _, _, count, bias = struct.unpack_from("<BBHi", data, 0)
    place, trees = 8, []
    for _ in range(count):
        (size,) = struct.unpack_from("<H", data, place)
        place += 2
        trees.append(np.array([struct.unpack_from("<BBHi", data, place + 8 * index) for index in range(size)]))
        place += 8 * size
    return bias, trees


def score(features, weights):
    """Scores by loaded weights, computed as RelevanceModel.logOdds does."""
    bias, trees = weights
    total = np.full(len(features), bias, dtype=np.int64)
    rows = np.arange(len(features))
    for tree in trees:
        node = np.zeros(len(features), dtype=np.int64)
        while True:
            inner = tree[node, 0] != 255
            if not inner.any():
                break
            at, row = node[inner], rows[inner]
            left = features[row, tree[at, 0]] <= tree[at, 1]
            node[inner] = at + np.where(left, 1, tree[at, 2])
        total += tree[node, 3]
    return 1 / (1 + np.exp(-total / UNIT))


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--kept", required=True, help="features of the logs as they are")
    arguments.add_argument("--removed-from-message", required=True, help="features with names taken out of the message")
    arguments.add_argument("--removed", required=True, help="features with names taken out of all messages")
    arguments.add_argument("--version", required=True, help="the name of the weights")
    arguments.add_argument("--output", required=True, help="the folder for trees.bin and about.txt")
    arguments.add_argument("--without", default="", help="features left out, for ablations: names or beginnings, with commas")
    options = vars(arguments.parse_args())
    global NAMES
    random = np.random.default_rng(1)
    inputs, truths, weights, validation = [], [], [], {}
    left_out = [name for name in options["without"].split(",") if name]
    for names, weight in WEIGHTS.items():
        features, truth, parts, about = read(options[names.replace("-", "_")])
        NAMES = about["features"]
        for index, name in enumerate(NAMES):
            if any(name.startswith(start) for start in left_out):
                features[:, index] = 0
        training = parts == "training"
        keep, makeup = thinned(features, truth, random)
        chosen = training & keep
        inputs.append(features[chosen])
        truths.append(truth[chosen])
        weights.append(weight * makeup[chosen])
        validation[names] = features[parts == "validation"], truth[parts == "validation"]
    inputs, truths, weights = np.vstack(inputs), np.concatenate(truths), np.concatenate(weights)
    print(f"{len(truths)} examples", file=sys.stderr)
    model = HistGradientBoostingClassifier(**MODEL).fit(inputs, truths, sample_weight=weights)

    lines = [
        "Trained on A Large-Scale Corpus for Conversation Disentanglement (Kummerfeld et al., ACL 2019), CC BY 4.0.", "",
        "On validation logs (precision, recall, F1 from a score on; F1 is highest at the best one):",
    ]
    for names, (features, truth) in validation.items():
        score = model.predict_proba(features)[:, 1]
        best = max(np.arange(0.05, 0.9, 0.01), key=lambda limit: scores(truth, score >= limit)[2])
        for limit in sorted({0.4, round(float(best), 2)}):
            precision, recall, f1 = scores(truth, score >= limit)
            mark = " (best)" if limit == round(float(best), 2) else ""
            lines.append(f"names {names}: from {limit:.2f}{mark}: {precision:.3f}, {recall:.3f}, {f1:.3f}")
        if names == "kept":
            half = next((l for l in np.arange(0.02, 0.5, 0.01) if scores(truth, score >= l)[0] >= 0.5), None)
            lines.append(f"names kept: precision is a half from {half:.2f} on, recall {scores(truth, score >= half)[1]:.3f}")
    print("\n".join(lines), file=sys.stderr)
    folder = pathlib.Path(options["output"])
    (folder / "trees.bin").write_bytes(table(model, about["layout"], len(NAMES)))
    (folder / "about.txt").write_text("\n".join([options["version"], *lines]) + "\n", encoding="utf-8")
    features, _ = validation["kept"]
    wrong = np.abs(score(features, load(folder)) - model.predict_proba(features)[:, 1]).max()
    if wrong > 0.001:
        sys.exit(f"{folder}: the weights, read back, score up to {wrong:.4f} apart from the model")


if __name__ == "__main__":
    main()
