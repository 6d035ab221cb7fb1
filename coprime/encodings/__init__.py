"""How keys are written down: DER, PEM, PKCS #8, SEC 1, OpenSSH, encrypted or not."""
