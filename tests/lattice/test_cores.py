"""Two cores of ML-KEM: a fault in one ends one decapsulation, and harms no other."""

import random

import pytest

from coprime.catalog import choose_calls
from coprime.device.call_cores import CallCores
from coprime.device.call_scheduler import CallScheduler
from coprime.device.faulty import FaultyDevice
from coprime.device.jobs import EngineError
from coprime.engine.capabilities import Error
from coprime.flow.parts import accelerator_verilog

SET = "ML-KEM-512"
REQUESTS = 8
WHEN = 12_000
"""Cycles after the first access: both cores have begun, and none has ended."""


@pytest.mark.fuzz
def test_a_fault_in_one_core_ends_one_request():
    choice = choose_calls("lattice", {"sets": SET.lower(), "cores": "2"})
    interface = choice.design.interface
    call, generator = interface.call["ML_KEM_DECAPSULATE"], random.Random(1)
    inputs = [dict(call.draw(SET, generator)) for _ in range(REQUESTS)]
    with FaultyDevice(accelerator_verilog(choice), choice.module_name) as device:
        memories = [
            one
            for name, one in device.registers.items()
            if one.is_memory and "engine.memory" in name
        ]
        [memory] = [one for one in memories if "core_1" in one.name]

        def flip():
            for word in range(memory.words):
                device.flip(memory, word, 0)

        cores = CallCores(device, interface)
        scheduler = CallScheduler(cores)
        requests = [scheduler.submit(call.name, one, parameter_set=SET) for one in inputs]
        device.call_at(device.cycles + WHEN, flip)
        assert list(scheduler.ordered()) == requests
        failed = []
        for request, one in zip(requests, inputs, strict=True):
            try:
                assert request.result.outputs["key"] == call.reference(SET, one)["key"]
            except EngineError as error:
                assert error.code is Error.FAULT
                failed.append(request)
        assert [request.core for request in failed] == [1]
        assert sum(request.core == 1 for request in requests) > 1  # it went on
        cores.wipe()
        assert not any(core.complete() for core in cores.cores)
        assert len(memories) == len(cores.cores)
        for one in memories:
            assert not any(device.peek(one, word) for word in range(one.words))
