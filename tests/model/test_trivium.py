from coprime.model.trivium import keystream


def number(text):
    """A key of eSTREAM: the first byte has the last bits, and its bits are the other way round."""
    turned = [int(f"{byte:08b}"[::-1], 2) for byte in bytes.fromhex(text)]
    return int.from_bytes(turned, "big")


def as_text(bits):
    """Bytes as eSTREAM prints them: the first bit is the least significant."""
    return bytes(
        sum(bit << k for k, bit in enumerate(bits[n : n + 8])) for n in range(0, len(bits), 8)
    ).hex()


def test_published_output_of_zeros():
    """Key and vector of zeros: eSTREAM's set 2, vector 0."""
    wanted = "fbe0bf265859051b517a2e4e239fc97f563203161907cf2de7a8790fa1b2e9cd"
    assert as_text(keystream(0, 0, 256)) == wanted


def test_published_output_of_a_key():
    """eSTREAM's set 1, vector 0."""
    wanted = "38eb86ff730d7a9caf8df13a4420540d"
    assert as_text(keystream(number("80000000000000000000"), 0, 128)) == wanted
