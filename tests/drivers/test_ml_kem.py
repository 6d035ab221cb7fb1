"""ML-KEM in the C driver: its numbers are the engine's, and each function makes its call."""

from coprime.catalog import choose_calls
from coprime.flow.tools import run_tool
from coprime.package.call_header import call_header
from tests.drivers.harness import CALLS, DRIVER, DRIVERS, compile_c

ML_KEM = DRIVERS / "src" / "coprime_ml_kem.c"
SLOTS = ("D", "Z", "EK", "DK", "M", "C", "KEY")
MADE = ("KEY_PAIR", "ENCAPSULATE", "DECAPSULATE", "CHECK_KEY")
PROGRAM = """
#include "{source}"
#include "coprime_lattice.h"

{asserts}

/* In place of the driver's: notes what it is given. */
static uint32_t made[9];

int coprime_call(struct coprime *driver, uint32_t call, const struct coprime_slot_input *inputs,
                 uint32_t input_count, struct coprime_slot_output *outputs, uint32_t output_count)
{{
    (void)driver;
    made[0] = call;
    for (uint32_t i = 0; i < 2; ++i) {{
        made[1 + 2 * i] = i < input_count ? inputs[i].slot : 99u;
        made[2 + 2 * i] = i < input_count ? inputs[i].size : 0;
        made[5 + 2 * i] = i < output_count ? outputs[i].slot : 99u;
        made[6 + 2 * i] = i < output_count ? outputs[i].size : 0;
    }}
    return input_count + output_count > 4;
}}

static int is(uint32_t call, uint32_t in, uint32_t in_size, uint32_t in_2, uint32_t in_2_size,
              uint32_t out, uint32_t out_size, uint32_t out_2, uint32_t out_2_size)
{{
    const uint32_t wanted[] = {{call, in,       in_size, in_2,  in_2_size,
                               out,  out_size, out_2,   out_2_size}};
    for (int i = 0; i < 9; ++i) {{
        if (wanted[i] != made[i])
            return 0;
    }}
    return 1;
}}

int main(void)
{{
    struct coprime driver = {{0}};
    static uint8_t a[64], b[9], c[9], secret[32];

    coprime_ml_kem_key_pair(&driver, a, b, 800, c, 1632);
    if (!is(KEY_PAIR, SLOT_D, 32, SLOT_Z, 32, SLOT_EK, 800, SLOT_DK, 1632))
        return 1;
    coprime_ml_kem_key_pair(&driver, NULL, b, 800, NULL, 0);
    if (!is(KEY_PAIR, 99, 0, 99, 0, SLOT_EK, 800, 99, 0))
        return 2;
    coprime_ml_kem_encapsulate(&driver, b, 800, a, c, 768, secret);
    if (!is(ENCAPSULATE, SLOT_EK, 800, SLOT_M, 32, SLOT_C, 768, SLOT_KEY, 32))
        return 3;
    coprime_ml_kem_encapsulate(&driver, NULL, 0, NULL, c, 768, NULL);
    if (!is(ENCAPSULATE, 99, 0, 99, 0, SLOT_C, 768, 99, 0))
        return 4;
    coprime_ml_kem_decapsulate(&driver, b, 1632, c, 768, secret);
    if (!is(DECAPSULATE, SLOT_DK, 1632, SLOT_C, 768, SLOT_KEY, 32, 99, 0))
        return 5;
    coprime_ml_kem_decapsulate(&driver, NULL, 0, c, 768, secret);
    if (!is(DECAPSULATE, SLOT_C, 768, 99, 0, SLOT_KEY, 32, 99, 0))
        return 6;
    coprime_ml_kem_check_key(&driver, b, 800, c, 1632);
    if (!is(CHECK_KEY, SLOT_EK, 800, SLOT_DK, 1632, 99, 0, 99, 0))
        return 7;
    return 0;
}}
"""


def test_its_numbers_and_calls(tmp_path):
    interface = choose_calls("lattice", {}).design.interface
    (tmp_path / "coprime_lattice.h").write_text(call_header("coprime_lattice", interface))
    pairs = [
        *((f"SLOT_{name}", f"COPRIME_LATTICE_SLOT_{name}") for name in SLOTS),
        *((name, f"COPRIME_LATTICE_CALL_ML_KEM_{name}") for name in MADE),
        ("COPRIME_ML_KEM_MESSAGE_BYTES", "COPRIME_LATTICE_BYTES_M"),
        ("COPRIME_ML_KEM_SECRET_BYTES", "COPRIME_LATTICE_BYTES_KEY"),
        ("COPRIME_ML_KEM_SEED_BYTES", "(COPRIME_LATTICE_BYTES_D + COPRIME_LATTICE_BYTES_Z)"),
    ]
    asserts = "\n".join(
        f'_Static_assert((int){one} == (int){other}, "{one}");' for one, other in pairs
    )
    source = tmp_path / "ml_kem.c"
    source.write_text(PROGRAM.format(source=ML_KEM, asserts=asserts))
    run_tool("the test", [compile_c(tmp_path, "ml_kem", f"-I{tmp_path}", source)])


def test_it_links_with_the_driver(tmp_path):
    source = tmp_path / "main.c"
    source.write_text(
        '#include "coprime_ml_kem.h"\nint main(int count, char **words) { (void)words; return'
        " count > 9 ? coprime_ml_kem_check_key(0, 0, 0, 0, 0) : 0; }\n"
    )
    run_tool("the test", [compile_c(tmp_path, "main", source, ML_KEM, CALLS, DRIVER)])
