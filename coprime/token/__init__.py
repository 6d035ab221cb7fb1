"""The PKCS #11 token: a module in C, and what builds it."""
