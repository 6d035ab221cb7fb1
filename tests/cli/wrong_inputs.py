"""Wrong inputs, and the page that shows what each gets: docs/errors.md.

    python -m tests.cli.wrong_inputs    # writes the page again

Each command runs in a folder that `prepare` has filled. The page is the only copy of the messages:
the test runs the commands again and compares.
"""

import base64
import contextlib
import dataclasses
import io
import os
import shlex
import sys
import tempfile
from pathlib import Path
from unittest.mock import patch

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    pkcs12,
)

from coprime.cli import main
from coprime.ec import keys as curve_keys
from coprime.ec.edwards import ED25519
from coprime.ec.montgomery import CURVES, X25519
from coprime.ec.weierstrass import curve_named
from coprime.encodings import key_files
from coprime.encodings.key_info import PrivateKeyInfo, PublicKeyInfo
from coprime.encodings.seeded_keys import SeededKey
from coprime.pqc.key_sets import ML_KEM
from coprime.pqc.keys import KeyForm, LatticePrivateKey
from coprime.pqc.ml_dsa_key_sets import ML_DSA
from coprime.rsa import keys
from tests.certificates import certificate
from tests.encodings import by_hand

P256 = curve_named("P-256")
_NAMED_P256 = bytes.fromhex("06082a8648ce3d030107")
PAGE = Path(__file__).parents[2] / "docs" / "errors.md"

WRONG = {
    "Commands, families and parameters": [
        "frobnicate",
        "list --nonsense",
        "build fdmf -o x",
        "build cluster -p engine=fdmf -o x",
        "build fdfm -p max_bits -o x",
        "build fdfm -p size=1024 -o x",
        "build fdfm -p max_bits=9 -o x",
        "build fdfm -p max_bits=64 -p max_bits=65 -o x",
        "build fdfm -p exponentiator=windows -o x",
        "build fdfm -p exponentiator=m-ary -p window=3 -o x",
        "build karatsuba -p word=33 -o x",
        "build karatsuba -p interleaved=1 -p multipliers=2 -o x",
        "build compression -p modulus=kybr -o x",
        "build compression -p modulus=2 -o x",
        "build compression -p modulus=5 -p stages=9 -o x",
        "build compression -p exponentiator=m-ary -o x",
        "build fdfm --key key.pem -o x",
        "synth compression -p modulus=kyber --key key.pem --target ecp5",
        "build cluster -p cores=1024 -o x",
        "build cluster -p engine=compact -p blinding=all -o x",
        "build compact -p blinding=both -o x",
        "build cluster -p node=small -o x",
        "build cluster -p engine=compact -p node=lean -o x",
        "build cluster -p node=lean -p multipliers=2 -o x",
        "build cluster -p node=lean -p modexp2=1 -o x",
    ],
    "Engines of byte strings": [
        "run shaek SHA3_256",
        "run shake SHA3_265",
        "run shake SHA3_256 -p cores=33",
        "run shake SHA3_256 -p cores=2 --requests 0",
        "run shake SHA3_256 --requests 2",
        "run shake SHA3_256 -p slices=5",
        "run shake SHA3_256 --message abc",
        "run shake SHA3_256 --message @missing",
        "run shake SHA3_256 --output-bytes 32",
        "run shake SHAKE256 --output-bytes -1",
        "run shake SHAKE256 --output-bytes 0",
        "run shake SHA3_256 --message 00 --message-bytes 4",
        "run shake SHA3_256 --message-bytes -1",
        "run lattice ML_KEM_KEYPAIR",
        "run lattice ML_KEM_KEY_PAIR --set ML-KEM-786",
        "run lattice ML_KEM_KEY_PAIR -p sets=ml-kem-512 --set ML-KEM-768",
        "run lattice ML_KEM_KEY_PAIR -p secrets=hidden",
        "run lattice ML_KEM_KEY_PAIR --d 00",
        "run lattice ML_KEM_KEY_PAIR --ek 00",
        "run lattice ML_KEM_KEY_PAIR --bits 512",
        "run lattice ML_KEM_ENCAPSULATE --set ML-KEM-1024 --m 0011",
        "run lattice ML_KEM_DECAPSULATE --set ML-KEM-768 --c 00",
        "run lattice ML_KEM_DECAPSULATE --set ML-KEM-768 --c @mlkem_512.ciphertext",
        "run lattice ML_KEM_DECAPSULATE --dk @missing",
        "run lattice ML_KEM_DECAPSULATE --dk @folder",
        "run lattice ML_KEM_CHECK_KEY --ek xyz",
        "run lattice -p schemes=both ML_KEM_KEY_PAIR --set ML-DSA-44",
        "run lattice -p schemes=both -p sets=ml-kem-512 ML_KEM_KEY_PAIR",
        "run lattice -p sets=ml-kem-512+ml-dsa-44 ML_KEM_KEY_PAIR",
        "run compact SHAKE256",
        "rsa sign --key key.pem --device sim:shake",
        "rsa sign --key key.pem --device sim:compact,random=seeded",
        "rsa sign --key key.pem --device sim:compact,blinding=all,random=none",
        "synth shake --target xc7 --part multiplier",
        "synth shake --target unit-gate",
        "assess faults shake --operation SHA3_265",
        "assess faults shake --kind skip",
        "assess faults shake --flips 0",
        "assess faults shake --bits 64",
        "assess leakage shake -p masked=sponge -p slices=64",
        "assess schedule shake",
        "assess leakage lattice --operation ML_KEM_DECAPSULATE --test d",
        "assess leakage lattice -p schemes=ml-dsa --operation ML_DSA_SIGN",
        "assess leakage lattice --operation-number 2",
    ],
    "Targets, buses, paddings, boards": [
        "build fdfm --target stratix -o x",
        "build fdfm --bus ahb -o x",
        "build fdfm --padding oeap -o x",
        "build compact -p max_bits=64 --padding oaep -o x",
        "build cluster --padding oaep -o x",
        "build shake --padding oaep -o x",
        "assess entropy text.txt",
        "assess entropy nothing.bin",
        "assess entropy samples.bin --samples 1000",
        "assess entropy samples.bin --initial 0.5",
        "assess entropy samples.bin --collect sim:lattice",
        "assess entropy samples.bin --collect sim:lattice,random=trng --samples 0",
        "build compact --random seeded -o x",
        "build shake --random seeded -o x",
        "synth compact -p blinding=all --board ulx3s --random seeded -o board",
        "synth lattice --board crosslink-nx-evn --random trng -o board",
        "build cluster --random seeded -o x",
        "build lattice --random trng --target nexus -o x",
        "synth lattice --random trng --target gatemate",
        "build lattice --random sedeed -o x",
        "build fdfm --clock 0 -o x",
        "build fdfm --measure -o x",
        "synth fdfm --target generic",
        "synth fdfm --target xc7 --route",
        "synth fdfm --target ecp5 --device LFE5U-45F",
        "synth fdfm --target ecp5 --seeds 2",
        "synth fdfm --target ecp5 --paths 10",
        "synth fdfm --target ecp5 --route --paths -1",
        "synth fdfm --target ecp5 --route --seeds 0",
        "synth fdfm --target xc7 --part reduction",
        "synth fdfm --target unit-gate --route",
        "synth fdfm --target unit-gate --bus axi4",
        "synth cluster --target unit-gate",
        "synth fdfm --target xc7 --padding oaep",
        "synth cluster --target xc7 --part engine",
        "synth cluster --target ecp5 --stamp",
        "synth fdfm --target ecp5 --route --stamp",
        "synth cluster --target gowin --route --stamp",
        "synth fdfm",
        "synth fdfm --target ecp5 --baud 9600",
        "synth fdfm --board ulx3s",
        "synth fdfm --board ulx3s --baud 0 -o x",
        "synth fdfm --board ulx3s --baud 9000000 -o x",
        "synth compact -p blinding=all --board ulx3s -o x",
        "program --board ulx3s folder",
        "synth fdfm --target ecp5 --clock 50",
        "synth fdfm --board ulx3s --clock 900 -o x",
        "synth fdfm --board icebreaker --clock 20 -o x",
        "synth fdfm --board crosslink-nx-evn --clock 50 -o x",
        "simulate-board compact --board ulx3s --clock 63.1",
        "synth fdfm --target xc7 --board ulx3s -o x",
        "synth cluster --target ecp5 --board ulx3s -o x",
        "synth fdfm --board ulx3s --stamp -o x",
        "synth cluster --board tang-nano-9k --stamp -o x",
        "synth lattice --board ulx3s",
        "synth lattice --board ulx3s --stamp -o x",
        "build cluster -p engine=lattice -o x",
        "synth lattice -p cores=4 --target xc7",
        "synth lattice -p cores=4 --board ulx3s -o x",
        "synth fdfm --target ecp5 -o x",
    ],
    "Where to write": [
        "build fdfm",
        "build fdfm -o key.pem",
        "build fdfm -o key.pem/below",
        'build fdfm -o ""',
        "synth fdfm --target ecp5 --board ulx3s -o key.pem",
        "run compact MODMUL --bits 64 --trace folder",
        "run compact MODMUL --bits 64 --trace key.pem/waves.fst",
        "sweep all -o folder",
        "sweep all -o results.xlsx",
        "report -o key.pem",
        "run compact MODMUL --bits 64 --trace none/waves.fst",
        "sweep all -o none/results.parquet",
        "rsa keygen -o none/new.pem",
        "rsa keygen -o new.pem --public none/new_public.pem",
        "rsa encrypt --key key.pem --in text.txt -o none/below/ciphertext",
        "ec keygen -o none/new.pem",
        "ec public --key x25519.pem -o none/public.pem",
        "ec derive --key x25519.pem --peer x25519_public.pem -o none/secret",
        "ec sign --key ec.pem --in text.txt -o none/signature",
        "rsa keygen -o key.pem",
        "rsa keygen -o new.pem --public new.pem",
        "rsa sign --key key.pem --in text.txt -o folder",
        "rsa sign --key key.pem --in text.txt -o key.pem",
    ],
    "Operands": [
        "run compact MODDIV --bits 64",
        "run compact MODMUL",
        "run compact ECDSA_SIGN",
        "run compact MODMUL --bits many",
        "run compact MODMUL --bits 1",
        "run compact MODMUL --bits 9999",
        "run compact MODMUL -p max_bits=512 --bits 600",
        "run compact MODMUL --x g --y 1 --m 7",
        "run compact MODMUL --x 1 --y 1 --m 0",
        "run compact MODMUL --x 1 --y 1 --m 8",
        "run compact MODMUL --x 9 --y 1 --m 7",
        "run compact MODMUL --x 1 --y 1 --m 7 --e 1",
        "run compact MODMUL --bits 64 --x 1",
        "run fdfm MULTIPLICATION",
        "run fdfm MULTIPLICATION --bits 64 --x 1",
        "run fdfm MULTIPLICATION -p max_bits=64 --bits 70",
        "run fdfm REDUCTION --bits 64",
        "run compact MULTIPLICATION --bits 512",
        "run compact RSA_PRIVATE --bits 20",
        "run compact RSA_PRIVATE --x 5",
        "run compact RSA_PRIVATE --key key.pem",
        "run compact MODEXP --key key.pem --input 5",
        "run fdfm MODEXP --m 5 --x 3 --e 1 --exponents worst",
        "run compact MODMUL --bits 64 --requests 2",
        "run cluster MODMUL --bits 64 --requests 0",
        "run cluster MODEXP -p node=lean --bits 64",
        "run compact MODMUL --bits 64 --explain",
        "run ring MODMUL --bits 64 -p dsp=0",
        "run ring MODMUL --bits 64 -p dsp=5 -p tile=bal50",
        "run compression MODMUL --m kyber",
        "run compression MODMUL -p modulus=kyber --m 5 --explain",
    ],
    "Faults": [
        "assess frobnicate",
        "assess constant-time fdmf",
        "assess constant-time direct -p modulus=61 --seconds 0",
        "assess schedule direct -p modulus=61",
        "assess schedule compact --digits 3..63",
        "assess schedule compact --digits few",
        "assess faults fdmf",
        "assess faults cluster -p engine=fdmf",
        "assess faults compact --bits 63",
        "assess faults compact --bits 128 -p max_bits=64",
        "assess faults compact --operation RSA",
        "assess faults compression --operation RSA_PRIVATE",
        "assess faults compression -p modulus=251 --kind skip",
        "assess faults compact --kind glitch",
        "assess faults compact --flips 0",
        "assess faults compact --operation-number 3",
        "assess faults compact -p curves=weierstrass --operation EC_MULTIPLY --operation-number 2",
        "assess faults compact --workers 0",
        "assess faults compact -o key.pem",
        "assess faults compact --at 5",
        "assess faults compact --at bit,0,pc,0",
    ],
    "Keys": [
        "rsa sign --key none.pem --in text.txt",
        "rsa sign --key folder --in text.txt",
        "rsa sign --key empty --in text.txt",
        "rsa sign --key text.txt --in text.txt",
        "rsa sign --key corrupt.pem --in text.txt",
        "rsa sign --key certificate.pem --in text.txt",
        "rsa encrypt --key request.pem --in text.txt",
        "rsa sign --key archive.p12 --in text.txt",
        "rsa encrypt --key rsa.ppk --in text.txt",
        "rsa encrypt --key rfc4716.pub --in text.txt",
        "rsa encrypt --key cut_ssh.pub --in text.txt",
        "rsa sign --key ssh.pub --in text.txt",
        "rsa encrypt --key utf16.pem --in text.txt",
        "rsa sign --key label.pem --in text.txt",
        "rsa sign --key no_end.pem --in text.txt",
        "rsa sign --key no_base64.pem --in text.txt",
        "rsa sign --key base64.txt --in text.txt",
        "rsa sign --key cut.der --in text.txt",
        "rsa sign --key longer.der --in text.txt",
        "rsa sign --key store.jks --in text.txt",
        "rsa encrypt --key empty --in text.txt",
        "rsa sign --key ec.pem --in text.txt",
        "rsa verify --key ec_public.pem --in text.txt --signature text.txt",
        "rsa sign --key public.pem --in text.txt",
        "rsa decrypt --key -",
        "rsa sign --key encrypted.pem --passphrase-file text.txt --in text.txt",
        "rsa sign --key encrypted.pem --passphrase-file none --in text.txt",
        "rsa sign --key encrypted.pem --passphrase-file empty --in text.txt",
        "rsa sign --key encrypted.pem --passphrase-file utf16.pem --in text.txt",
        "rsa sign --key without_d.pem --in text.txt",
        "rsa sign --key three_primes.pem --in text.txt",
        "rsa sign --key rc2.der --passphrase-file text.txt --in text.txt",
        "rsa keygen --bits 15 -o new.pem",
        "rsa keygen --bits 63 -o new.pem",
        "rsa keygen --bits 8193 -o new.pem",
        "rsa keygen --exponent 4 -o new.pem",
        "rsa keygen --bits 512 --p-bits 600 -o new.pem",
        "rsa keygen --bits 512 --device sim:ring -o new.pem",
        "rsa keygen --exponent 3 --device sim:ring -o new.pem",
        "rsa keygen --p-bits 600 --device sim:ring -o new.pem",
        "rsa keygen --bits 4096 --device sim:ring,max_bits=1024 -o new.pem",
    ],
    "Messages and devices": [
        "rsa encrypt --key key.pem --in none",
        "rsa encrypt --key key.pem --in ''",
        "rsa encrypt --key key.pem --in long",
        "rsa decrypt --key key.pem --in text.txt",
        "rsa decrypt --key key.pem --in long",
        "rsa decrypt --key key.pem --in empty",
        "rsa decrypt --key key.pem --in ones",
        "rsa decrypt --key key.pem --in long --padding pkcs1",
        "rsa encrypt --key key.pem --in text.txt --padding pss",
        "rsa encrypt --key key.pem --in text.txt --padding pkcs1 --label 00",
        "rsa encrypt --key key.pem --in text.txt --label xyz",
        "rsa sign --key key.pem --in text.txt --hash md5",
        "rsa sign --key key.pem --in text.txt --padding pkcs1 --mgf-hash sha1",
        "rsa sign --key small.pem --in text.txt",
        "rsa verify --key public.pem --in text.txt",
        "rsa verify --key public.pem --in text.txt --signature none",
        "rsa sign --key key.pem --in text.txt --salt-length lots",
        "rsa sign --key key.pem --in text.txt --salt-length 500",
        "rsa sign --key key.pem --in text.txt --padding pkcs1 --salt-length 5",
        "rsa sign --key key.pem --in text.txt --digest",
        "rsa sign --key key.pem --in text.txt --device fdfm",
        "rsa sign --key key.pem --in text.txt --device sim:compact,max_bits=512",
        "rsa sign --key key.pem --in text.txt --device sim:compact,blinding",
        "rsa sign --key key.pem --in text.txt --device sim:compression",
        "rsa sign --key key.pem --in text.txt --device sim:fdmf",
        "rsa sign --key key.pem --in text.txt --device serial:/dev/ttyUSB0,fast",
        "demo --bits 512",
        "demo --key ec.pem",
        "soc fdfm",
        "soc cluster --bits 512",
        "soc compression --bits 512",
        "soc fdfm --bits 64 --padding none",
        "soc montgomery-r2 --bits 64 --operation encrypt --padding pkcs1",
        "soc montgomery-r2 --bits 72 --operation encrypt",
        "soc montgomery-r2 --bits 512 --operation decrypt --padding oaep",
        "soc montgomery-r2 --bits 32 --operation encrypt --message Hello",
        "soc direct --operation encrypt",
        "soc direct -p modulus=vassoler-30 --bits 32 --operation encrypt",
        "soc direct -p modulus=vassoler-30 --exponent 65537 --operation encrypt",
        "soc direct -p modulus=vassoler-16 --operation decrypt",
        "soc fdfm --bits 512 --operation encrypt --no-software",
        "soc fdfm -p max_bits=512 --bits 1024",
        "soc fdfm --bits 99999",
        "soc fdfm --operation modexp --bits 4096",
        "soc fdfm --operation modexp --bits 512 --message Hello",
        "soc fdfm --operation modexp",
        "soc fdfm --bits 512 --exponents worst",
        "soc lattice",
        "soc lattice --operation modexp",
        "soc lattice --operation ml-kem --set ML-KEM-786",
        "soc lattice --operation ml-kem --bits 512",
        "soc lattice --operation ml-kem -p secrets=stay",
        "soc shake --operation ml-kem",
        "soc lattice -p schemes=ml-dsa --operation ml-kem",
        "soc compact --operation ml-kem",
        "soc compact --operation secure-boot",
        "soc lattice --operation secure-boot",
        "soc lattice -p schemes=ml-dsa --operation secure-boot --set ML-DSA-86",
        "soc lattice -p schemes=ml-dsa --operation secure-boot --alter sig",
        "soc lattice --operation ml-kem --alter image",
        "soc compact --bits 512 --alter image",
        "soc suite --operation ml-kem",
        "soc suite --no-software",
        "soc suite -p lattice.secrets=stay",
        "soc suite -p engines=lattice+shake --bits 512",
        "soc suite -p engines=shake+shake",
        "simulate-board cluster",
        "simulate-board compact --baud 0",
        "simulate-board compact --baud 4000000",
        "simulate-board compact --clock 0",
        "simulate-board compact -p blinding=all",
    ],
    "Power": [
        "assess leakage fdfm",
        "assess leakage cluster",
        "assess leakage compact --test nonces",
        "assess leakage compact --test nonce",
        "assess leakage compact --cycles 10",
        "assess leakage compact --cycles 20..10",
        "assess leakage compact --products left 1..2 3",
        "assess leakage compact --trs",
        "assess leakage compact --workers 2 --scheduler tcp://127.0.0.1:1",
        "assess leakage compact --operation MODMUL",
        "assess leakage compact --operation RSA_PUBLIC",
        "assess leakage compact --bits 1024",
        "assess leakage compact --traces 1",
        "assess leakage compact --noise -1",
        "assess leakage compact --operation-number 0",
        "assess leakage compact --order 3",
        "assess leakage compact --workers 0",
        "assess leakage compact --keep -1",
        "assess leakage compact -o key.pem",
    ],
    "Elliptic curves": [
        "ec sign --key -",
        "ec derive --key - --peer - -o secret",
        "ec keygen --curve p257 -o new.pem",
        "ec keygen -o key.pem",
        "ec keygen -o new.pem --public new.pem",
        "ec keygen -o new.pem --device sim:compact,curves=montgomery",
        "ec public --key key.pem",
        "ec public --key p192.pem",
        "ec public --key short_x448.pem",
        "ec public --key zero.pem --passphrase-file secret",
        "ec public --key other_public.pem",
        "ec public --key other_base.pem",
        "ec public --key x25519_public.pem",
        "ec public --key x25519.pem -o x25519.pem",
        "ec public --key x25519.pem --device sim:compact",
        "ec public --key x25519.pem --device sim:ring",
        "ec public --key ec.pem --device sim:compact,curves=montgomery",
        "ec public --key ec.pem --device sim:compact,curves=weierstrass,max_bits=128",
        "ec public --key x448.pem --device sim:compact,curves=montgomery,max_bits=256",
        "ec derive --key x25519.pem --peer x25519_public.pem",
        "ec derive --key x25519.pem --peer x448_public.pem -o secret",
        "ec derive --key x25519.pem --peer x25519.pem -o secret",
        "ec derive --key x25519.pem --peer key.der -o secret",
        "ec derive --key x25519.pem --peer ec_public.pem -o secret",
        "ec derive --key ec.pem --peer off_curve.pem -o secret",
        "ec derive --key x25519.pem --peer text.txt -o secret",
        "ec derive --key x25519.pem --peer none.pem -o secret",
        "ec derive --key x25519.pem --peer x25519_public.pem -o x25519_public.pem",
        "ec sign --key x25519.pem --in text.txt",
        "ec sign --key ec_public.pem --in text.txt",
        "ec sign --key key.pem --in text.txt",
        "ec sign --key empty --in text.txt",
        "ec sign --key ssh.pub --in text.txt",
        "ec sign --key archive.p12 --in text.txt",
        "ec sign --key ec.pem --in none",
        "ec sign --key ec.pem --in text.txt -o ec.pem",
        "ec sign --key ec.pem --in text.txt --hash md5",
        "ec sign --key ec.pem --in text.txt --nonce zero",
        "ec sign --key ec.pem --in text.txt --format pem",
        "ec sign --key ec.pem --in text.txt --digest",
        "ec sign --key ec.pem --in text.txt --device sim:compact,curves=montgomery",
        "ec derive --key ed25519.pem --peer ed25519_public.pem -o secret",
        "ec sign --key ed25519.pem --in text.txt --hash sha512",
        "ec sign --key ed25519.pem --in text.txt --nonce random",
        "ec sign --key ec.pem --in text.txt --prehash",
        "ec sign --key ed25519.pem --in text.txt --device sim:compact,curves=weierstrass",
        "ec verify --key ed25519_public.pem --in text.txt --signature text.txt --format raw",
        "ec verify --key off_ed25519.pem --in text.txt --signature text.txt",
        "ec verify --key ec.pem --in text.txt --signature text.txt",
        "ec verify --key certificate.pem --in text.txt --signature text.txt",
        "ec verify --key request.pem --in text.txt --signature text.txt",
        "ec derive --key x25519.pem --peer empty -o secret",
        "ec verify --key x25519_public.pem --in text.txt --signature text.txt",
        "ec verify --key ec_public.pem --in text.txt",
        "ec verify --key ec_public.pem --in text.txt --signature none",
        "ec verify --key ec_public.pem --in text.txt --signature text.txt --hash sha384 --digest",
        "build compact -p curves=hyperelliptic -o x",
        "build karatsuba -p curves=montgomery -o x",
        "build fdfm -p curves=montgomery -o x",
        "build montgomery-2csa -p curves=montgomery -o x",
        "run montgomery-2csa X_MULTIPLY --bits 255",
        "run karatsuba ECDSA_SIGN --curve P-256",
        "run ring X_MULTIPLY --curve P-256",
        "run ring X_MULTIPLY",
        "run compact MODMUL --curve P-256",
        "run compact ECDSA_VERIFY --curve P-256 -p curves=montgomery+edwards",
        "run compact ECDSA_SIGN --curve P-256 -p ecdsa=host",
        "run compact ECDSA_SIGN --curve P-256 -p nonce=random",
        "build compact -p curves=weierstrass -p base_multiple=once -o x",
        "build compact -p curves=edwards -p ecdsa=hardened -o x",
        "build ring -p curves=weierstrass -p multipliers=2 -o x",
    ],
    "ML-KEM": [
        "ml-kem keygen",
        "ml-kem keygen --set ML-KEM-786 -o new.pem",
        "ml-kem keygen --form sed -o new.pem",
        "ml-kem keygen -o key.pem",
        "ml-kem keygen -o none/new.pem",
        "ml-kem keygen -o new.pem --public new.pem",
        "ml-kem keygen -o new.pem --passphrase-file empty",
        "ml-kem keygen -o new.pem --device sim:compact",
        "ml-kem keygen -o new.pem --device sim:latice",
        "ml-kem keygen -o new.pem --device sim:lattice,sets=ml-kem-786",
        "ml-kem keygen -o new.pem --device sim:shake",
        "ml-kem keygen -o new.pem --device sim:lattice,sets=ml-kem-512",
        "ml-kem keygen -o new.pem --device sim:lattice,schemes=ml-dsa",
        "ml-kem keygen -o new.pem --device sim:lattice,sets=ml-dsa-44",
        "ml-kem keygen --set ML-DSA-44 -o new.pem",
        "ml-kem keygen --form both -o new.pem --device sim:lattice,secrets=stay",
        "ml-kem public --key mlkem_public.pem",
        "ml-kem public --key mldsa.pem",
        "ml-kem public --key key.pem",
        "ml-kem public --key mlkem_cut.pem",
        "ml-kem public --key mlkem_cut.der",
        "ml-kem public --key mlkem_two.pem",
        "ml-kem public --key mlkem_hash.pem",
        "ml-kem public --key mlkem_short.pem",
        "ml-kem public --key mlkem_draft.pem",
        "ml-kem public --key mlkem_other.pem",
        "ml-kem public --key mlkem.pem -o mlkem.pem",
        "ml-kem public --key mlkem.pem -o none/public.pem",
        "ml-kem encapsulate --key mlkem_public.pem",
        "ml-kem encapsulate --key mlkem.pem --secret secret",
        "ml-kem encapsulate --key mlkem_range.pem --secret new",
        "ml-kem encapsulate --key mlkem_length.pem --secret new",
        "ml-kem encapsulate --key ec_public.pem --secret new",
        "ml-kem encapsulate --key mlkem_public.pem --secret mlkem_public.pem",
        "ml-kem encapsulate --key mlkem_public.pem --secret new -o new",
        "ml-kem encapsulate --key mlkem_public.pem --secret new --device sim:lattice,secrets=stay",
        "ml-kem decapsulate --key mlkem.pem --in text.txt",
        "ml-kem decapsulate --key mlkem.pem --in text.txt -o new",
        "ml-kem decapsulate --key mlkem.pem --in mlkem_512.ciphertext -o new",
        "ml-kem decapsulate --key mlkem.pem --in none -o new",
        "ml-kem decapsulate --key mlkem_public.pem --in mlkem_512.ciphertext -o new",
        "ml-kem decapsulate --key - --in - -o new",
        "ml-kem decapsulate --key mlkem.pem --in text.txt -o mlkem.pem",
    ],
    "ML-DSA": [
        "ml-dsa keygen",
        "ml-dsa keygen --set ML-DSA-66 -o new.pem",
        "ml-dsa keygen --set ML-KEM-768 -o new.pem",
        "ml-dsa keygen -o key.pem",
        "ml-dsa keygen -o new.pem --public new.pem",
        "ml-dsa keygen -o new.pem --device sim:lattice",
        "ml-dsa keygen -o new.pem --device sim:lattice,schemes=ml-dsa,sets=ml-dsa-44",
        "ml-dsa keygen -o new.pem --device sim:lattice,schemes=ml-dsa,verify_only=1",
        "ml-dsa keygen --form both -o new.pem --device sim:lattice,schemes=ml-dsa,secrets=stay",
        "ml-dsa public --key mldsa_public.pem",
        "ml-dsa public --key mlkem.pem",
        "ml-dsa public --key key.pem",
        "ml-dsa public --key mldsa_cut.pem",
        "ml-dsa public --key mldsa_cut.der",
        "ml-dsa public --key mldsa_two.pem",
        "ml-dsa public --key mldsa_parts.pem",
        "ml-dsa public --key mldsa_range.pem",
        "ml-dsa public --key mldsa_short.pem",
        "ml-dsa public --key mldsa_draft.pem",
        "ml-dsa public --key mldsa.pem -o mldsa.pem",
        "ml-dsa certificate --key mldsa.pem",
        "ml-dsa certificate --key mldsa.pem --subject x -o new",
        "ml-dsa certificate --key mldsa_public.pem --subject CN=x -o new",
        "ml-dsa certificate --key mldsa.pem --subject CN=x --days 0 -o new",
        "ml-dsa certificate --key mldsa.pem --subject CN=x --days 1000000 -o new",
        "ml-dsa request --key mldsa.pem --subject CN=x -o mldsa.pem",
        "ml-dsa cms --key mldsa.pem --in text.txt",
        "ml-dsa cms --key mldsa.pem --certificate text.txt --in text.txt -o new",
        "ml-dsa sign --key mldsa.pem --in none",
        "ml-dsa sign --key mldsa_public.pem --in text.txt",
        "ml-dsa sign --key ed25519.pem --in text.txt",
        "ml-dsa sign --key mldsa.pem --in text.txt -o mldsa.pem",
        "ml-dsa sign --key mldsa.pem --in text.txt --hash sha1",
        "ml-dsa sign --key mldsa.pem --in text.txt --context 0",
        "ml-dsa sign --key mldsa.pem --in text.txt --mu",
        "ml-dsa sign --key mldsa.pem --in text.txt --mu --context 00",
        "ml-dsa sign --key mldsa.pem --in text.txt --mu --hash sha512",
        "ml-dsa sign --key - --in -",
        "ml-dsa verify --key mldsa_public.pem --in text.txt",
        "ml-dsa verify --key mldsa.pem --in text.txt --signature mldsa.signature",
        "ml-dsa verify --key mldsa_length.pem --in text.txt --signature mldsa.signature",
        "ml-dsa verify --key mlkem_public.pem --in text.txt --signature mldsa.signature",
        "ml-dsa verify --key mldsa_public.pem --in text.txt --signature text.txt",
        "ml-dsa verify --key mldsa_public.pem --in text.txt --signature mldsa_65.signature",
        "ml-dsa verify --key mldsa_public.pem --in none --signature mldsa.signature",
    ],
    "Key exchange of TLS 1.3": [
        "x25519-mlkem768 offer -o share",
        "x25519-mlkem768 offer -o share --private share",
        "x25519-mlkem768 offer -o share --private key.pem",
        "x25519-mlkem768 offer -o none/share --private new.pem",
        "x25519-mlkem768 offer -o share --private none/new.pem",
        "x25519-mlkem768 offer -o share --private new.pem --device sim:compact",
        "x25519-mlkem768 offer -o share --private new.pem --device sim:lattice,sets=ml-kem-512",
        "x25519-mlkem768 offer -o share --private new.pem --curve-device sim:lattice",
        "x25519-mlkem768 offer -o share --private new.pem --curve-device sim:compact",
        "x25519-mlkem768 answer --peer text.txt -o share --secret new",
        "x25519-mlkem768 answer --peer server.share -o share --secret new",
        "x25519-mlkem768 answer --peer range.share -o share --secret new",
        "x25519-mlkem768 answer --peer none -o share --secret new",
        "x25519-mlkem768 answer --peer client.share -o share --secret share",
        "x25519-mlkem768 answer --peer client.share -o client.share --secret new",
        "x25519-mlkem768 finish --private hybrid.pem --peer client.share -o new",
        "x25519-mlkem768 finish --private mlkem.pem --peer server.share -o new",
        "x25519-mlkem768 finish --private swapped.pem --peer server.share -o new",
        "x25519-mlkem768 finish --private hybrid_cut.pem --peer server.share -o new",
        "x25519-mlkem768 finish --private text.txt --peer server.share -o new",
        "x25519-mlkem768 finish --private none.pem --peer server.share -o new",
        "x25519-mlkem768 finish --private hybrid.pem --peer server.share -o hybrid.pem",
        "secp256r1-mlkem768 answer --peer client.share -o share --secret new",
        "secp256r1-mlkem768 finish --private hybrid.pem --peer server.share -o new",
        "secp384r1-mlkem1024 offer -o share --private new.pem --device sim:lattice,sets=ml-kem-768",
        "secp384r1-mlkem1024 offer -o share --private new.pem --curve-device"
        " sim:compact,curves=montgomery",
    ],
    "Sweeps, results, the cache": [
        "sweep none.toml -o results.parquet",
        "sweep text.txt -o results.parquet",
        "sweep family.toml -o results.parquet",
        "sweep key.toml -o results.parquet",
        "sweep bits.toml -o results.parquet",
        "sweep operation.toml -o results.parquet",
        "sweep parameter.toml -o results.parquet",
        "sweep value.toml -o results.parquet",
        "sweep small.toml -o results.parquet --workers 0",
        "sweep small.toml -o results.parquet --workers 2 --scheduler tcp://127.0.0.1:1",
        "choose --bits 2048 --target xc7 --results none.parquet",
        "choose --bits 2048 --target xc7 --results damaged.parquet",
        "choose --bits 2048 --target xc7 --results other.csv",
        "choose --bits 2048 --target xc7 --results text.txt",
        "choose --bits 2048 --target xc7 --results folder",
        "choose --bits 2048 --target xc7 --device LFE5U-25F",
        "choose --bits 2048 --target xc7 --max-dsp -1",
        "choose --bits 2048",
        "choose --target xc7",
        "choose --operation ECDSA_SIGN --bits 256 --curve P-256 --target xc7",
        "choose --operation ECDSA_SIGN --curve P-257 --target xc7",
        "choose --operation ED_VERIFY --curve P-256 --target xc7",
        "choose --operation ECDSA_SIGN --bits 255 --target xc7",
        "choose --operation ECDSA_SIGN --bits 256 --target gowin",
        "choose --operation ECDSA_SIGN --bits 256 --target xc7 --max-dsp 0",
        "choose --operation X_MULTIPLY --curve P-256 --target xc7",
        "choose --curve P-256 --target xc7",
        "choose --operation RSA_PRIVATE,ECDSA_SING --bits 2048 --curve P-256 --target xc7",
        "choose --operation RSA_PRIVATE,ECDSA_SIGN --curve P-256 --target xc7",
        "choose --operation RSA_PRIVATE,ECDSA_VERIFY --bits 512 --target ecp5",
        "choose --operation MODEXP,X_MULTIPLY --bits 1024 --target ecp5",
        "choose --operation MODEXP2 --bits 256 --target xc7",
        "choose --operation ECDSA_SIGN --curve P-256,Ed25519 --target xc7",
        "choose --operation ML_KEM_DECAPSULATE --target xc7",
        "choose --operation ML_KEM_DECAPSULATE --set ML-KEM-769 --target xc7",
        "choose --operation ML_KEM_DECAPSULAT --set ML-KEM-768 --target xc7",
        "choose --operation ML_KEM_DECAPSULATE --set ML-KEM-768 --bits 2048 --target xc7",
        "choose --operation ML_KEM_CHECK_KEY --set ML-KEM-768 --target xc7",
        "choose --operation ML_KEM_KEY_PAIR --set ML-KEM-768 --target gowin",
        "choose --operation RSA_PRIVATE --bits 2048 --set ML-KEM-768 --target xc7",
        "choose --operation RSA_PRIVATE,ML_KEM_KEY_PAIR --bits 2048 --set ML-KEM-768 --target xc7",
        "choose --operation SHA3_256 --target xc7",
        "choose --operation SHA3_256 --bits 100 --target xc7",
        "choose --operation SHA3_256 --curve P-256 --target xc7",
        "choose --bits 2048 --target ecp5 --clock 100",
        "choose --bits 2048 --target xc7 --clock 0",
        "choose --bits 2048 --target xc7 --max-ms 20",
        "report --results none.parquet -o x",
        "report --results damaged.parquet -o x",
        "cache clear simulations",
        "completion csh",
    ],
}


def prepare(folder: Path) -> None:
    """The files that the commands name."""
    key = keys.generate(1024, seed=1)
    private, own = keys.private_pem(key), curve_keys.CurvePrivateKey.generate(P256)
    public = own.software_public()
    off_curve = (
        public.encode(Encoding.DER)[:-65] + public.point[:-1] + bytes([public.point[-1] ^ 1])
    )
    der = keys.library_key(key).private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    line = keys.library_key(key).public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    specification = {
        "families": '"compact"',
        "bits": "64",
        "targets": '"xc7"',
        "operations": '"MODMUL"',
    }
    specifications = {
        "small": {},
        "family": {"families": '"compcat"'},
        "key": {"bit": "64"},
        "bits": {"bits": "0"},
        "operation": {"families": '"compression"', "operations": '"RSA_PRIVATE"'},
        "parameter": {"parameters": "{ max_bit = 64 }"},
        "value": {"parameters": "{ max_bits = 9999999 }"},
    }
    files = {
        "key.pem": private,
        "public.pem": keys.public_pem(key.public),
        "small.pem": keys.private_pem(keys.generate(512, seed=1)),
        "encrypted.pem": keys.private_pem(key, b"secret"),
        "corrupt.pem": private.replace(b"A", b"B"),
        "ec.pem": own.encode(),
        "ec_public.pem": public.encode(),
        "off_curve.pem": off_curve,
        "p192.pem": ec.generate_private_key(ec.SECP192R1()).private_bytes(
            Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
        ),
        "certificate.pem": certificate(keys.library_key(key)).public_bytes(Encoding.PEM),
        "request.pem": b"-----BEGIN CERTIFICATE REQUEST-----\nMIIB\n"
        b"-----END CERTIFICATE REQUEST-----\n",
        "archive.p12": pkcs12.serialize_key_and_certificates(
            None, keys.library_key(key), None, None, BestAvailableEncryption(b"secret")
        ),
        "without_d.pem": by_hand.pem("RSA PRIVATE KEY", _pkcs1(0, key.n, key.e)),
        "three_primes.pem": by_hand.pem("RSA PRIVATE KEY", _pkcs1(1, *dataclasses.astuple(key))),
        "rc2.der": by_hand.sequence(
            by_hand.sequence(
                by_hand.element(6, bytes.fromhex("2a864886f70d010c0106")),  # with SHA-1 and RC2-40
                by_hand.sequence(by_hand.octets(bytes(8)), by_hand.number(2048)),
            ),
            by_hand.octets(bytes(16)),
        ),
        "short_x448.pem": by_hand.pem("PRIVATE KEY", by_hand.pkcs8("06032b656f", b"\4\0")),
        "zero.pem": by_hand.with_header("EC PRIVATE KEY", _sec1(bytes(32))),
        "other_public.pem": by_hand.pem(
            "EC PRIVATE KEY", _sec1(P256.encode_scalar(2), P256.encode_point(P256.base))
        ),
        "other_base.pem": by_hand.pem("EC PRIVATE KEY", _sec1(bytes([1]), named=_other_base())),
        "secret": by_hand.SECRET,
        "rsa.ppk": b"PuTTY-User-Key-File-3: ssh-rsa\n",
        "rfc4716.pub": b"---- BEGIN SSH2 PUBLIC KEY ----\nAAAA\n---- END SSH2 PUBLIC KEY ----\n",
        "ssh.pub": line,
        "cut_ssh.pub": line[:100],
        "utf16.pem": keys.public_pem(key.public).decode().encode("utf-16"),
        "label.pem": private.replace(b"PRIVATE KEY", b"CERTIFICATE"),
        "no_end.pem": private.rpartition(b"-----END")[0],
        "no_base64.pem": private.replace(b"M", b"!", 1),
        "base64.txt": base64.encodebytes(der),
        "key.der": der,
        "cut.der": der[:-3],
        "longer.der": der + b"\0",
        "store.jks": bytes.fromhex("feedfeed00000002"),
        "ones": b"\xff" * 128,
        "empty": b"",
        "text.txt": b"a line of text\n",
        "long": bytes(500),
        "damaged.parquet": b"PAR1 and no more",
        "other.csv": b"a,b\n1,2\n",
    }
    for curve in (*CURVES, ED25519):
        own = curve_keys.CurvePrivateKey(curve, bytes(curve.size))
        files[f"{curve.name.lower()}.pem"] = own.encode()
        files[f"{curve.name.lower()}_public.pem"] = own.software_public().encode()
    public_der = own.software_public().encode(Encoding.DER)
    files["off_ed25519.pem"] = public_der[:-32] + (2).to_bytes(32, "little")
    files |= _of_ml_kem() | _of_ml_dsa()
    for name, other in specifications.items():
        lines = [f"{key} = {value}" for key, value in (specification | other).items()]
        files[f"{name}.toml"] = "\n".join(["[[sweep]]", *lines, ""]).encode()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    (folder / "folder").mkdir()


def _of_ml_kem() -> dict[str, bytes]:
    """Keys of ML-KEM-768, but for those of another set or algorithm."""
    one = ML_KEM["ML-KEM-768"]
    key = LatticePrivateKey(one, bytes(one.seed_bytes))
    private, public = key.encode(), key.software_public().key
    curve = curve_keys.CurvePrivateKey(X25519, bytes(32))
    expanded = key.in_form(KeyForm.EXPANDED).expanded
    hashed = expanded[:-33] + bytes([expanded[-33] ^ 1]) + expanded[-32:]
    contents = {
        "two": SeededKey(bytes(range(64)), expanded).encoded,
        "hash": SeededKey(None, hashed).encoded,
        "short": SeededKey(bytes(32), None).encoded,
        "draft": bytes(64),
        "other": by_hand.number(1),
    }
    wrong = {name: PrivateKeyInfo(one.identifier, None, each) for name, each in contents.items()}
    publics = {"range": b"\xff" * 3 + public[3:], "length": public[1:]}
    return {
        "mlkem.pem": private,
        "mlkem_public.pem": key.software_public().encode(),
        "mlkem_cut.pem": private[:-20],
        "mlkem_cut.der": key.encode(None, Encoding.DER)[:-20],
        "mlkem_512.ciphertext": bytes(768),
        "hybrid.pem": private + curve.encode(),
        "hybrid_cut.pem": (private + curve.encode())[:-20],
        "swapped.pem": curve.encode() + private,
        "client.share": public + curve.software_public().point,
        "range.share": b"\xff" * 3 + public[3:] + curve.software_public().point,
        "server.share": bytes(1088 + 32),
        **{
            f"mlkem_{name}.pem": key_files.write_private(info, None, is_pem=True)
            for name, info in wrong.items()
        },
        **{
            f"mlkem_{name}.pem": PublicKeyInfo(one.identifier, None, each).encoded
            for name, each in publics.items()
        },
    }


def _of_ml_dsa() -> dict[str, bytes]:
    """Keys of ML-DSA-44, but for a signature of another set."""
    one = ML_DSA["ML-DSA-44"]
    key = LatticePrivateKey(one, bytes(one.seed_bytes))
    private, public = key.encode(), key.software_public()
    expanded = key.in_form(KeyForm.EXPANDED).expanded
    contents = {
        "two": SeededKey(bytes(range(32)), expanded).encoded,
        "parts": SeededKey(None, expanded[:-1] + bytes([expanded[-1] ^ 1])).encoded,
        "range": SeededKey(None, expanded[:128] + b"\xff" + expanded[129:]).encoded,
        "short": SeededKey(bytes(31), None).encoded,
        "draft": bytes(32),
    }
    wrong = {name: PrivateKeyInfo(one.identifier, None, each) for name, each in contents.items()}
    return {
        "mldsa.pem": private,
        "mldsa_public.pem": public.encode(),
        "mldsa_cut.pem": private[:-20],
        "mldsa_cut.der": key.encode(None, Encoding.DER)[:-20],
        "mldsa.signature": bytes(2420),
        "mldsa_65.signature": bytes(3309),
        "mldsa_length.pem": PublicKeyInfo(one.identifier, None, public.key[1:]).encoded,
        **{
            f"mldsa_{name}.pem": key_files.write_private(info, None, is_pem=True)
            for name, info in wrong.items()
        },
    }


def _pkcs1(version: int, *numbers: int) -> bytes:
    """RSAPrivateKey, with zeros for numbers that are left out."""
    filled = (version, *numbers, *[0] * (8 - len(numbers)))
    return by_hand.sequence(*map(by_hand.number, filled))


def _sec1(number: bytes, point: bytes = b"", named: bytes = _NAMED_P256) -> bytes:
    """ECPrivateKey of P-256."""
    public = [by_hand.element(0xA1, by_hand.element(3, b"\0" + point))] if point else []
    fields = (by_hand.number(1), by_hand.octets(number), by_hand.element(0xA0, named))
    return by_hand.sequence(*fields, *public)


def _other_base() -> bytes:
    """Explicit parameters of P-256 with another base point."""
    two = curve_keys.CurvePrivateKey(P256, P256.encode_scalar(2)).software_public()
    a, b = (by_hand.octets(one.to_bytes(32)) for one in (P256.a, P256.b))
    field = by_hand.sequence(bytes.fromhex("06072a8648ce3d0101"), by_hand.number(P256.p))
    base, order = by_hand.octets(two.point), by_hand.number(P256.n)
    version, cofactor = by_hand.number(1), by_hand.number(1)
    return by_hand.sequence(version, field, by_hand.sequence(a, b), base, order, cofactor)


def answer(command: str, folder: Path) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of a command in the folder."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(shlex.split(command))
        except SystemExit as leave:
            status = leave.code
    return status, out.getvalue(), err.getvalue()


def page(messages: dict[str, str]) -> str:
    """The page with the message of each command."""
    lines = [
        "# Wrong inputs",
        "",
        "An appendix, generated from the command line's answers by `make errors`; a test compares",
        "it with what the commands say.",
        "",
        "What a wrong input gets: exit status 2, one sentence on standard error, no file, and no",
        "work before. The files in it are what their names say: `folder` is a folder, `key.pem` a",
        "private RSA key of 1024 bits.",
        "",
        "The exit status of every command is one of these:",
        "",
        "| status | what has happened |",
        "|---|---|",
        "| 0 | it is done; a signature is valid, results are right |",
        "| 1 | it could not be done: a device is not there (a serial port, `/dev/uioN`, a board) or"
        " does not answer, a tool is missing or fails, a design does not fit, an output is full, a"
        " computed result is wrong; or the answer is no: a signature is not valid, a ciphertext"
        " does not decode |",
        "| 2 | wrong input, as below |",
        "| 130 | interrupted |",
    ]
    for group, commands in WRONG.items():
        lines += ["", f"## {group}", "", "```console"]
        for command in commands:
            lines += [f"$ coprime {command}", messages[command].rstrip("\n")]
        lines.append("```")
    return "\n".join(lines) + "\n"


def write_page() -> None:
    """Run the commands and write the page."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        prepare(folder)
        messages = {}
        for command in [command for group in WRONG.values() for command in group]:
            status, out, err = answer(command, folder)
            messages[command] = err
            if (status, out, err.count("\n")) != (2, "", 1):
                print(f"NOT AS IT SHOULD BE: {command}: {status} {out}{err}", file=sys.stderr)
        PAGE.write_text(page(messages), encoding="utf-8")


if __name__ == "__main__":
    with patch.dict(os.environ, COLUMNS="80"):
        write_page()
