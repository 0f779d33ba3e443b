#!/usr/bin/env python3
"""What each group of features is worth: the model trained anew on the logs as they are without the group, its F1 on held-out logs at
the threshold that is best on validation logs, and how much F1 it loses there, with intervals over whole logs. See docs/relevance.md.

The features are those of `nudge relevance FILE --features`; a group is by the beginnings of their names."""

import argparse

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

import train
from train import MODEL, read, scores, thinned

GROUPS = {
    "all features": [],
    "without whom the message addresses": ["message.addressedCount", "person.addressed", "message.addressingRate"],
    "without whom sender and person have written to": [
        "person.senderAddressed", "person.addressedSender", "person.lastAddressed", "person.senderLastAddressed",
        "person.turns", "person.partnerAge", "person.senderPartnerAge", "person.senderLastPartner", "person.lastPartner",
        "message.senderPartners",
    ],
    "without what others have to do with the two": [
        "person.others", "person.addressedOthers", "person.addressers", "person.answersSince",
    ],
    "without who wrote when, in messages": [
        "person.rank", "person.age", "person.count", "person.firstAge", "person.sinceSender", "person.ageDifference", "message.senderAge",
        "message.senderCount", "message.senderFirstAge",
    ],
    "without times": ["message.senderMinutes", "message.span", "message.pause", "person.minutes"],
    "without questions": ["message.question", "message.senderAsked", "person.asked"],
    "without length": ["message.length", "message.senderLength", "person.length"],
    "without topic": ["message.senderTopic", "person.topic"],
}
# Beginnings of names that are other features as well.
EXACT = {"person.addressed", "person.age", "person.count", "person.turns"}


def columns(names, group):
    """The places of a group's features. Every entry names at least one."""
    found = set()
    for start in group:
        matching = [i for i, name in enumerate(names) if name == start or (start not in EXACT and name.startswith(start))]
        if not matching:
            raise SystemExit(f"no feature is called {start}")
        found.update(matching)
    return sorted(found)


def losses(truth, with_all, without, logs, random):
    """The middle 95 % of what F1 loses over samples of whole logs, drawn with replacement: both on the same logs."""
    names = np.unique(logs)
    counts = []
    for found in (with_all, without):
        counts.append(
            [
                np.array([np.sum(part[logs == name]) for name in names])
                for part in (truth & found, found, truth)
            ]
        )
    draws = random.integers(0, len(names), (2000, len(names)))
    f1 = [2 * right[draws].sum(1) / (seen[draws].sum(1) + real[draws].sum(1)) for right, seen, real in counts]
    return np.quantile(f1[0] - f1[1], [0.025, 0.975])


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("features", help="of the logs as they are")
    path = arguments.parse_args().features
    features, truth, parts, about = read(path)
    train.NAMES = names = about["features"]
    width = len(names)
    logs = np.fromfile(path, dtype=np.uint8).reshape(-1, width + 3)[:, width + 1 :].astype(int) @ [1, 256]
    held = parts == "held-out"
    reference = None
    print(f"{'trained':48} features  validation  held out  loses (95 of 100)")
    for title, group in GROUPS.items():
        left_out = columns(names, group)
        changed = features.copy()
        changed[:, left_out] = 0
        # The same examples each time.
        keep, makeup = thinned(features, truth, np.random.default_rng(1))
        chosen = (parts == "training") & keep
        model = HistGradientBoostingClassifier(**MODEL).fit(changed[chosen], truth[chosen], sample_weight=makeup[chosen])
        value = {part: model.predict_proba(changed[parts == part])[:, 1] for part in ("validation", "held-out")}
        real = truth[parts == "validation"]
        best = max(np.arange(0.05, 0.9, 0.01), key=lambda limit: scores(real, value["validation"] >= limit)[2])
        found = value["held-out"] >= best
        if reference is None:
            reference = found
        f1 = scores(real, value["validation"] >= best)[2], scores(truth[held], found)[2]
        low, high = losses(truth[held], reference, found, logs[held], np.random.default_rng(1))
        lost = scores(truth[held], reference)[2] - f1[1]
        print(
            f"{title:48} {width - len(left_out):8d}  {f1[0]:10.3f}  {f1[1]:8.3f}  {lost:.3f} ({low:.3f} to {high:.3f})",
            flush=True)


main()
