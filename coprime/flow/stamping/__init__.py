"""Stamping: a module repeated on a chain is placed and routed once and copied across the device.

`fabric` describes the device, `chain` the netlist, `plan` chooses the rectangles, `block` places
and routes one of them, `compose` assembles the copies, `check` verifies the result, and `stamp`
runs all of these.
"""
