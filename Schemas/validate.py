#!/usr/bin/env python3
"""Holds the examples against the JSON Schemas beside this file. Offline; needs `jsonschema` (apt install python3-jsonschema).

usage: validate.py [--json] [FOLDER ...]

Every FOLDER/{topic}/examples/{type}/{name}.json is held against {topic}/{type}.schema.json of this folder. Without
FOLDER: this folder. A file whose name begins with `valid-` must be valid, one with `invalid-` must not.

Prints one line a file that is not what its name says, and a summary; with --json an array of
{"file", "valid", "message"}. Exits with 0 if all are what their names say, 1 if not, 2 if nothing could be checked.
"""
import json
import pathlib
import sys

SCHEMAS = pathlib.Path(__file__).resolve().parent


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def make_validators():
    """(topic, type) → validator. All schemas find each other by `$id`: nothing is fetched."""
    from jsonschema import Draft202012Validator

    schemas = {path: read(path) for path in sorted(SCHEMAS.rglob("*.schema.json"))}
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)
    try:  # jsonschema 4.18 and later
        from referencing import Registry, Resource

        registry = Registry().with_resources((s["$id"], Resource.from_contents(s)) for s in schemas.values())
        make = lambda schema: Draft202012Validator(schema, registry=registry)
    except ImportError:  # jsonschema 4.10, as in Debian 12
        from jsonschema import RefResolver

        store = {schema["$id"]: schema for schema in schemas.values()}
        make = lambda schema: Draft202012Validator(schema, resolver=RefResolver(schema["$id"], schema, store=store))
    return {(path.parent.name, path.name.removesuffix(".schema.json")): make(s) for path, s in schemas.items()}


def main(arguments):
    as_json = "--json" in arguments
    folders = [pathlib.Path(a) for a in arguments if a != "--json"] or [SCHEMAS]
    try:
        validators = make_validators()
    except ImportError as error:
        print(f"{error}: apt install python3-jsonschema", file=sys.stderr)
        return 2
    results = []
    for folder in folders:
        for path in sorted(folder.glob("*/examples/*/*.json")):
            topic, type = path.parts[-4], path.parts[-2]
            if (topic, type) not in validators:
                print(f"{path}: there is no {topic}/{type}.schema.json", file=sys.stderr)
                return 2
            error = next(validators[topic, type].iter_errors(read(path)), None)
            message = error and f"{error.json_path}: {error.message}"
            results.append({"file": str(path), "valid": error is None, "message": message})
    wrong = [r for r in results if r["valid"] != pathlib.Path(r["file"]).name.startswith("valid-")]
    if as_json:
        json.dump(results, sys.stdout)
    else:
        for result in wrong:
            print(f"{result['file']}: {result['message'] or 'is valid, its name says it is not'}")
        print(f"{len(validators)} schemas, {len(results)} examples, {len(wrong)} not what their names say")
    if not results:
        print("no examples found", file=sys.stderr)
        return 2
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
