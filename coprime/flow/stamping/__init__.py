"""Stamping: a module repeated on a chain is placed and routed once and copied across the device.

`fabric` knows the device, `chain` the netlist, `plan` chooses the rectangles, `block` places and
routes what goes into one, `compose` puts copies together, `check` looks at the result, and `stamp`
is all of it.
"""
