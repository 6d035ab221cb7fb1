"""The algorithms of FIPS 203 in integers."""
