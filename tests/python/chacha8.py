"""The generator `chacha8-1` of docs/model-format.md, word for word."""

import math
import struct

_MASK = 0xFFFFFFFF


def _quarter_round(s, a, b, c, d):
    for i, j, k, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        s[i] = (s[i] + s[j]) & _MASK
        s[k] ^= s[i]
        s[k] = ((s[k] << turn) | (s[k] >> (32 - turn))) & _MASK


def block(key, counter, stream):
    """The sixteen output words of one block."""
    words = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574]
    words += struct.unpack("<8I", key)
    words += struct.unpack("<4I", struct.pack("<QQ", counter, stream))
    state = list(words)
    for _ in range(4):
        for column in range(4):
            _quarter_round(state, column, column + 4, column + 8, column + 12)
        _quarter_round(state, 0, 5, 10, 15)
        _quarter_round(state, 1, 6, 11, 12)
        _quarter_round(state, 2, 7, 8, 13)
        _quarter_round(state, 3, 4, 9, 14)
    return [(x + y) & _MASK for x, y in zip(state, words)]


class Stream:
    """One stream under one seed, and the draws made from it."""

    def __init__(self, seed, stream):
        self._key = struct.pack("<Q", seed) + bytes(24)
        self._stream = stream
        self._counter = 0
        self._words = []

    def _u64(self):
        if not self._words:
            self._words = block(self._key, self._counter, self._stream)
            self._counter += 1
        low, high = self._words[:2]
        del self._words[:2]
        return high << 32 | low

    def uniform(self):
        return math.ldexp(self._u64() >> 11, -53)

    def below(self, n):
        return self._u64() * n >> 64

    def normal(self):
        radius = math.sqrt(-2.0 * math.log(1.0 - self.uniform()))
        return radius * math.cos(math.tau * self.uniform())
