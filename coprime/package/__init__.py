"""What `coprime build` writes: a folder that an engineer can hand on.

`package` assembles it. Each of the other modules gives some of its files, from the `Description` of
the design: a function `files` that returns the text of each file by its path in the folder.
"""
