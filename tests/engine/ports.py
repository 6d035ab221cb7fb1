"""An engine driven by its own ports, without the bus."""

from coprime.engine.contract import RESULT_LATENCY, Error, Length


class EnginePorts:
    """The protocol of the engine contract, for a testbench of Amaranth's simulator."""

    def __init__(self, design):
        self.design = design
        self.engine = design.hardware()

    async def load(self, context, operands, lengths):
        """Write what the engine holds of the operands, and set the lengths, which are in bits."""
        engine, capabilities = self.engine, self.design.capabilities
        context.set(engine.write, 1)
        for operand, value in operands.items():
            if operand not in capabilities.operands:
                continue
            context.set(engine.operand, operand)
            digits = capabilities.to_digits(operand, value, lengths.get(operand.length, 0))
            for index, digit in enumerate(digits):
                context.set(engine.index, index)
                context.set(engine.digit, digit)
                await context.tick()
        context.set(engine.write, 0)
        kinds = [kind for kind in lengths if kind is not Length.DIGIT]
        context.set(engine.lengths, {kind.field: lengths[kind] for kind in kinds})
        context.set(
            engine.counts, {kind.field: capabilities.digits(lengths[kind]) for kind in kinds}
        )

    async def start(self, context, command):
        context.set(self.engine.command, command)
        context.set(self.engine.start, 1)
        await context.tick()
        context.set(self.engine.start, 0)

    async def finish(self, context):
        """Wait for the end; give the cycles and the error."""
        cycles = 1
        while not context.get(self.engine.done):
            assert context.get(self.engine.busy)
            cycles += 1
            await context.tick()
        error = context.get(self.engine.error)
        await context.tick()
        assert not context.get(self.engine.busy)
        assert context.get(self.engine.error) == error
        return cycles, Error(error)

    async def result(self, context, digits):
        width, value = self.design.capabilities.digit_width, 0
        for index in range(digits):
            context.set(self.engine.index, index)
            await context.tick().repeat(RESULT_LATENCY)
            value |= context.get(self.engine.result_digit) << (width * index)
        return value
