"""RSA on any accelerator: keys, padding, encrypt, decrypt, sign and verify."""
