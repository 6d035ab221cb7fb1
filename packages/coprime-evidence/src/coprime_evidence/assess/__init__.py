"""What an attacker could get out of a design: under faults, and from its power.

Faults:

- `subject`: an operation on a design, and what an application gets from the driver
- `number_subject`, `call_subject`: its two kinds, operations on numbers and calls
- `replay`: the driver's accesses, recorded once; a run begins shortly before its fault
- `faults`: the kinds of faults, and how one is drawn
- `campaign`: runs with faults, and what became of each
- `batches`: many runs, on Dask workers
- `faults_summary`: counts of many runs, and the bound on the probability of a wrong result
- `faults_files`: the files of a campaign, with a plot
"""
