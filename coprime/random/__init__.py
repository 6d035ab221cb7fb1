"""A source of random bytes in hardware: Hash_DRBG of SP 800-90A, and what seeds it."""
