"""Fetches the headers of vendors, and reads which functions a header declares."""
import re

from msleaks_e2e import REPOSITORY, check, need, run, skip

OF_ALL_VERSIONS = "-D__CUDA_API_VERSION_INTERNAL"  # with this option CUDA's headers declare the functions of all versions


def fetched(vendor, *version):
    """Unpacks the vendor's headers, if this was not done before. Returns their folder."""
    done = run([REPOSITORY / f"test/standins/{vendor}/headers.sh", *version])
    if done.returncode == 77:
        skip(done.stderr.strip().splitlines()[-1] if done.stderr else "headers cannot be had")
    check(done.returncode == 0, done.stderr)
    return done.stdout.splitlines()[-1]


def without_bodies(text):
    """Replaces braces and what they contain by a semicolon. So a definition ends like a declaration."""
    while (shorter := re.sub(r"\{[^{}]*\}", ";", text)) != text:
        text = shorter
    return text


def declared(header, *options):
    """Returns the names of the functions that the header declares for a program in C. With OF_ALL_VERSIONS, the names include older
    versions and the variants for the per-thread default stream. Static functions are left out, since no library exports them."""
    done = run([need("g++"), "-E", "-P", "-x", "c", *options, header])
    check(done.returncode == 0, done.stderr)
    text = re.sub(r'"(\\.|[^"\\])*"', "", re.sub(r"^#.*", "", done.stdout, flags=re.MULTILINE))
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", "", text)
    statements = (" ".join(statement.split()) for statement in without_bodies(text).split(";"))
    found = (re.match(r"(?!typedef\b)(?!.*\bstatic\b)[\w* ]*?\b(\w+) ?\(", statement) for statement in statements)
    return {match[1] for match in found if match}
