"""The algorithms of FIPS 203 and FIPS 204 in integers."""
