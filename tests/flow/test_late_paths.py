"""The slowest path into each component, out of nextpnr's report."""

from coprime.flow.routing import LatePath, late_paths_of

CLOCK = "posedge clk"


def net(*endpoints, event=CLOCK):
    return {
        "event": event,
        "endpoints": [
            {"cell": cell, "delay": [ns - 0.5, ns], "event": end} for cell, ns, end in endpoints
        ],
    }


REPORT = {
    "detailed_net_timings": [
        net(("dut.lane.adder.sum_FF", 3.004, CLOCK), ("dut.lane.adder.carry_FF", 7.5, CLOCK)),
        net(("dut.lane.pc_FF", 8.25, CLOCK), ("dut.start_FF", 1.0, CLOCK)),
        net(("captured_FF_1", 4.0, CLOCK)),
        net(("dut.lane.adder.pin", 99.0, "async"), event=CLOCK),
        net(("dut.lane.adder.pin", 99.0, CLOCK), event="async"),
    ]
}


def test_one_path_of_each_component_the_slowest_first():
    assert late_paths_of(REPORT, 9) == [
        LatePath(component="lane", end="dut.lane.pc_FF", ns=8.25),
        LatePath(component="lane.adder", end="dut.lane.adder.carry_FF", ns=7.5),
        LatePath(component="ports", end="captured_FF_1", ns=4.0),
        LatePath(component="top", end="dut.start_FF", ns=1.0),
    ]
    assert [one.component for one in late_paths_of(REPORT, 2)] == ["lane", "lane.adder"]


def test_a_report_without_details():
    assert late_paths_of({}, 5) == []
    assert late_paths_of(REPORT, 0) == []
