"""Post-quantum keys and key exchange on any accelerator that is built for them."""
