library ieee;
use ieee.std_logic_1164.all;

-- A Coprime accelerator on the XBUS of a NEORV32: single accesses, each answered by ACK or ERR.
entity coprime_xbus is
  port (
    clk        : in  std_ulogic;
    rstn       : in  std_ulogic;
    select_i   : in  std_ulogic; -- the address is in the accelerator's 4 KiB
    xbus_adr_i : in  std_ulogic_vector(31 downto 0);
    xbus_dat_i : in  std_ulogic_vector(31 downto 0);
    xbus_dat_o : out std_ulogic_vector(31 downto 0);
    xbus_we_i  : in  std_ulogic;
    xbus_sel_i : in  std_ulogic_vector(3 downto 0);
    xbus_stb_i : in  std_ulogic;
    xbus_ack_o : out std_ulogic;
    xbus_err_o : out std_ulogic;
    irq_o      : out std_ulogic
  );
end entity;

architecture rtl of coprime_xbus is

  component coprime_fdfm is -- the top module of your build
    port (
      s_axi_aclk    : in  std_logic;
      s_axi_aresetn : in  std_logic;
      s_axi_awaddr  : in  std_logic_vector(11 downto 0);
      s_axi_awprot  : in  std_logic_vector(2 downto 0);
      s_axi_awvalid : in  std_logic;
      s_axi_awready : out std_logic;
      s_axi_wdata   : in  std_logic_vector(31 downto 0);
      s_axi_wstrb   : in  std_logic_vector(3 downto 0);
      s_axi_wvalid  : in  std_logic;
      s_axi_wready  : out std_logic;
      s_axi_bresp   : out std_logic_vector(1 downto 0);
      s_axi_bvalid  : out std_logic;
      s_axi_bready  : in  std_logic;
      s_axi_araddr  : in  std_logic_vector(11 downto 0);
      s_axi_arprot  : in  std_logic_vector(2 downto 0);
      s_axi_arvalid : in  std_logic;
      s_axi_arready : out std_logic;
      s_axi_rdata   : out std_logic_vector(31 downto 0);
      s_axi_rresp   : out std_logic_vector(1 downto 0);
      s_axi_rvalid  : out std_logic;
      s_axi_rready  : in  std_logic;
      irq           : out std_logic
    );
  end component;

  signal address, data, rdata             : std_logic_vector(31 downto 0);
  signal strobes                          : std_logic_vector(3 downto 0);
  signal awvalid, wvalid, arvalid         : std_logic;
  signal awready, wready, arready         : std_logic;
  signal bvalid, rvalid, irq              : std_logic;
  signal bresp, rresp                     : std_logic_vector(1 downto 0);

begin

  -- XBUS requests an access for one cycle and waits; AXI4-Lite holds it until it is accepted.
  take : process (clk)
  begin
    if rising_edge(clk) then
      if rstn = '0' then
        awvalid <= '0';
        wvalid  <= '0';
        arvalid <= '0';
      else
        if awready = '1' then
          awvalid <= '0';
        end if;
        if wready = '1' then
          wvalid <= '0';
        end if;
        if arready = '1' then
          arvalid <= '0';
        end if;
        if xbus_stb_i = '1' and select_i = '1' then
          address <= std_logic_vector(xbus_adr_i);
          data    <= std_logic_vector(xbus_dat_i);
          strobes <= std_logic_vector(xbus_sel_i);
          awvalid <= xbus_we_i;
          wvalid  <= xbus_we_i;
          arvalid <= not xbus_we_i;
        end if;
      end if;
    end if;
  end process;

  accelerator : component coprime_fdfm
    port map (
      s_axi_aclk    => clk,
      s_axi_aresetn => rstn,
      s_axi_awaddr  => address(11 downto 0),
      s_axi_awprot  => "000",
      s_axi_awvalid => awvalid,
      s_axi_awready => awready,
      s_axi_wdata   => data,
      s_axi_wstrb   => strobes,
      s_axi_wvalid  => wvalid,
      s_axi_wready  => wready,
      s_axi_bresp   => bresp,
      s_axi_bvalid  => bvalid,
      s_axi_bready  => '1',
      s_axi_araddr  => address(11 downto 0),
      s_axi_arprot  => "000",
      s_axi_arvalid => arvalid,
      s_axi_arready => arready,
      s_axi_rdata   => rdata,
      s_axi_rresp   => rresp,
      s_axi_rvalid  => rvalid,
      s_axi_rready  => '1',
      irq           => irq
    );

  xbus_dat_o <= std_ulogic_vector(rdata);
  xbus_ack_o <= (bvalid and not bresp(1)) or (rvalid and not rresp(1));
  xbus_err_o <= (bvalid and bresp(1)) or (rvalid and rresp(1));
  irq_o      <= irq;

end architecture;
