#!/usr/bin/env python3
"""Writes vectors.txt beside this file: F143 by an independent implementation.

F143 as the IPU has it is 1 sign, 4 exponent and 3 mantissa bits, bias 8, largest finite 240, no
infinity, no negative zero, one NaN at 0x80. That is float8_e4m3fnuz of the PyPI package ml_dtypes,
bit for bit, with two differences that this script keeps out of the vectors: ml_dtypes overflows to
NaN where this device saturates at 240, so no magnitude above 240 is listed; and it has no
stochastic rounding, so those lines hold exact fractions of its own neighbouring values.

    pip install ml_dtypes && python3 vectors.py

Lines:
    decode CODE F32BITS
    nearest F32BITS CODE          conversion from F32, to nearest, ties to even
    share F32BITS LOW HIGH PARTS  lies PARTS / 2^32 of the way from the nearer-to-zero to the other
"""

import math
import pathlib
import struct
from fractions import Fraction

import ml_dtypes
import numpy as np

F8 = ml_dtypes.float8_e4m3fnuz
values = np.arange(256, dtype=np.uint8).view(F8).astype(np.float32)


def bits(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def code(value):
    return int(np.float32(value).astype(F8).view(np.uint8))


def towards(value, target):
    return np.nextafter(np.float32(value), np.float32(target))


lines = [f"decode {c:02x} {bits(v):08x}" for c, v in enumerate(values)]
for sign in (0x00, 0x80):
    for low in range(0x7F):
        high = low + 1
        low_code = 0 if low == 0 else low | sign
        a, b = values[low_code], values[high | sign]
        middle = np.float32((float(a) + float(b)) / 2)
        points = [a, towards(a, b), towards(middle, a), middle, towards(middle, b), towards(b, a), b]
        lines += [f"nearest {bits(p):08x} {code(p):02x}" for p in points]
        for part in (1, 3, 4, 5):
            value = np.float32(float(a) + (float(b) - float(a)) * part / 8)
            share = (Fraction(float(value)) - Fraction(float(a))) / (
                Fraction(float(b)) - Fraction(float(a))
            )
            parts = share * 2**32
            assert parts.denominator == 1 and math.isfinite(value)
            lines.append(f"share {bits(value):08x} {low_code:02x} {high | sign:02x} {parts}")
pathlib.Path(__file__).with_name("vectors.txt").write_text("\n".join(lines) + "\n")
