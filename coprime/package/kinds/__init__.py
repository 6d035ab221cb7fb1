"""The kinds of designs, a file each: what the files of a package ask of them."""
