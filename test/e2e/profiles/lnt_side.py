"""Reads and writes profiles by LNT's own classes. lnt_test.py runs this script with a Python interpreter that can import LNT.

    lnt_side.py show FILE               prints the profile as JSON: version, counters, functions and their code
    lnt_side.py again FILE OUT          writes the profile again
    lnt_side.py make SEED V1 V2         writes a random profile, in both versions of the format
"""
import json
import random
import sys

from lnt.testing.profile.profile import Profile
from lnt.testing.profile.profilev1impl import ProfileV1
from lnt.testing.profile.profilev2impl import ProfileV2

NAMES = ["main", "f(int, char)", "operator\\n", "größe<a, b>", "std::map<int, std::less<int>>::at(int const&)", "", " ", "%s\t\"x\""]
COUNTERS = ["cycles", "branch-misses", "cache,misses", "Zyklen ü"]


def content(profile):
    functions = profile.getFunctions()
    return {"version": profile.getVersion(), "counters": profile.getTopLevelCounters(), "functions": functions,
            "code": {name: [list(line) for line in profile.getCodeForFunction(name)] for name in functions}}


def written(data, file):
    with open(file, "wb") as to:
        to.write(ProfileV2.upgrade(ProfileV1(data)).serialize())


def again(profile, file):
    shown = content(profile)
    functions = {name: {"counters": function["counters"], "data": shown["code"][name]} for name, function in shown["functions"].items()}
    written({"counters": shown["counters"], "disassembly-format": profile.impl.h.disassembly_format, "functions": functions}, file)


def of_chance(chance):
    """Returns a random profile. Its percentages are multiples of 1/8, which the format's 24 bits represent exactly."""
    def percentages(names):
        return {name: chance.randrange(801) / 8 for name in names}

    counters = chance.sample(COUNTERS, chance.randint(1, len(COUNTERS)))
    functions = {}
    for name in chance.sample(NAMES, chance.randint(0, len(NAMES))):
        of_function = chance.sample(counters, chance.randint(0, len(counters)))
        lines, address = [], chance.choice([0, 1, 1 << 40])
        for _ in range(chance.choice([0, 1, 2, 300])):
            address += chance.choice([0, 1, 4, 127, 128, 1 << 20])
            lines.append([percentages(of_function), address, chance.choice(["\tret", "", "jmp 7 # edge1_2", "größer", f"mov {address}"])])
        functions[name] = {"counters": percentages(of_function), "data": lines}
    return {"counters": {name: chance.choice([0, 1, 127, 128, 12345, (1 << 64) - 1]) for name in counters}, "disassembly-format": "raw",
            "functions": functions}


def main():
    verb, *words = sys.argv[1:]
    if verb == "show":
        print(json.dumps(content(Profile.fromFile(words[0]))))
    elif verb == "again":
        again(Profile.fromFile(words[0]), words[1])
    else:
        data = of_chance(random.Random(int(words[0])))
        with open(words[1], "wb") as file:
            file.write(ProfileV1(data).serialize())
        written(data, words[2])


if __name__ == "__main__":
    main()
