"""Signatures over P-256 and P-384, good ones and each with one fault, for .ci/arm64. OpenSSL makes and judges them.

    make_vectors.py KEYS FOLDER    writes FOLDER/vectors, prints the verdicts
"""
import hashlib
import pathlib
import subprocess
import sys

CURVES = {
    256: ("prime256v1", hashlib.sha256, 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551),
    384: ("secp384r1", hashlib.sha384, 2**384 - 0x389CB27E0BC8D220A7E5F24DB74F58851313E695333AD68D),
}


def openssl(*arguments, check=True, data=None):
    return subprocess.run(["openssl", *arguments], check=check, input=data, capture_output=True)


def read(data):
    """Two integers of a DER sequence."""
    body = data[3:] if data[1] == 0x81 else data[2:]
    size = body[1]
    return int.from_bytes(body[2:2 + size], "big"), int.from_bytes(body[4 + size:], "big")


def written(numbers):
    parts = b"".join(b"\x02" + bytes([number.bit_length() // 8 + 1]) + number.to_bytes(number.bit_length() // 8 + 1, "big")
                     for number in numbers)
    return b"\x30" + (b"\x81" if len(parts) > 127 else b"") + bytes([len(parts)]) + parts


def variants(order, digest, r, s):
    wrong = bytes([digest[0] ^ 1]) + digest[1:]
    yield from ((digest, r, s), (digest, r, order - s), (wrong, r, s), (digest, r, s ^ 1), (digest, r ^ 1, s))
    yield from ((digest, s, r), (digest, 0, s), (digest, r, 0), (digest, order, s), (digest, r, order))


def main(keys, folder):
    lines, key, signature = [], folder / "key.pem", folder / "signature"
    for bits, (curve, make, order) in CURVES.items():
        size = bits // 8
        for number in range(keys):
            openssl("ecparam", "-name", curve, "-genkey", "-noout", "-out", key)
            point = openssl("ec", "-in", key, "-pubout", "-outform", "DER").stdout[-2 * size:]
            digest = make(bytes([number])).digest()
            r, s = read(openssl("pkeyutl", "-sign", "-inkey", key, data=digest).stdout)
            for seen, one, other in variants(order, digest, r, s):
                signature.write_bytes(written((one, other)))
                verdict = openssl("pkeyutl", "-verify", "-inkey", key, "-sigfile", signature, check=False, data=seen)
                numbers = (point[:size], point[size:], seen, one.to_bytes(size, "big"), other.to_bytes(size, "big"))
                lines.append(" ".join([str(bits), *(part.hex() for part in numbers)]))
                print(int(verdict.returncode == 0))
    (folder / "vectors").write_text("\n".join(lines) + "\n")


main(int(sys.argv[1]), pathlib.Path(sys.argv[2]))
