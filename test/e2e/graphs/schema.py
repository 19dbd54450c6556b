"""Checks graphs against the schema of `msleaks cfg --json` (docs/cfg.schema.json). The schema allows unknown keys, since later versions
may add keys. The tests forbid unknown keys, so that nobody adds a key without an entry in the schema."""
import copy
import json

from msleaks_e2e import REPOSITORY, check

try:
    import jsonschema
except ImportError: # Debian's package python3-jsonschema is not installed
    jsonschema = None

SCHEMA = REPOSITORY / "docs/cfg.schema.json"


def closed(schema):
    """Returns a copy of the schema that forbids keys which it does not name."""
    schema = copy.deepcopy(schema)
    for definition in [*schema["$defs"].values(), schema["$defs"]["block"]["properties"]["classes"]]:
        if definition.get("type") == "object":
            definition["additionalProperties"] = False
    return schema


def validator():
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(closed(schema))


def mistakes(graphs):
    return [f"{'/'.join(map(str, mistake.absolute_path))}: {mistake.message}" for mistake in validator().iter_errors(graphs)]


def expect(graphs, what):
    """Checks the graphs against the schema. Without an installed schema library this function checks nothing, and file_test.py
    prints a message."""
    if jsonschema is not None:
        found = mistakes(graphs)
        check(not found, f"{what}: not as {SCHEMA.name} has it: {found[:3]}")
