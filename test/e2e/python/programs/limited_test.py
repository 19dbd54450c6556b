"""Tests with limits of memory. test/e2e/python/pytest_test.py runs them, and knows which of them fail."""
import subprocess
import sys
import unittest

import pytest

kept = []
MIB = 1 << 20


@pytest.mark.limit_leaks("1MB")
def test_ok_frees():
    for _ in range(10):
        bytearray(8 * MIB)


@pytest.mark.limit_leaks("1MB")
def test_leaves():
    kept.append(bytearray(3 * MIB))


@pytest.mark.limit_leaks("4 MiB")
def test_ok_leaves_less_than_its_limit():
    kept.append(bytearray(3 * MIB))


@pytest.mark.limit_leaks("1MB")
def test_ok_cycles_are_no_leaks():
    cycle = [bytearray(5 * MIB)]
    cycle.append(cycle)


@pytest.mark.limit_leaks("1MB")
def test_ok_small_objects():
    [[number] for number in range(200_000)]
    kept.append([str(1000 + number) for number in range(100)])


@pytest.mark.limit_leaks("1MB")
def test_ok_other_processes():
    subprocess.run([sys.executable, "-c", "kept = bytearray(50_000_000); import os; os._exit(0)"], check=True)


@pytest.mark.limit_memory("10MB")
@pytest.mark.parametrize("mib", [5, 20])
def test_needs(mib):
    bytearray(mib * MIB)


@pytest.mark.limit_leaks("1MB")
@pytest.mark.limit_memory("10MB")
def test_both():
    kept.append(bytearray(20 * MIB))


@pytest.mark.limit_leaks("1MB")
def test_raises():
    kept.append(bytearray(3 * MIB))
    raise KeyError("its own error")


class Case(unittest.TestCase):
    @pytest.mark.limit_leaks("1MB")
    def test_method_leaves(self):
        kept.append(bytearray(3 * MIB))


def test_ok_without_a_limit():
    kept.append(bytearray(30 * MIB))
