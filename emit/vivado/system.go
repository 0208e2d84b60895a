// SPDX-License-Identifier: Apache-2.0

package vivado

import (
	"bytes"
	"text/template"

	"lathe/emit"
	"lathe/emit/shell"
	"lathe/rtl"
)

// engine is an AXI DMA of a block design: the streams of the design that it serves, "" where it serves none on that
// side, their bits, and which ports it has at the interconnects of registers and of memory.
type engine struct {
	In, Out                  string
	InBits, OutBits          int
	Control, InPort, OutPort int
}

// processor is one that a block design is made for.
type processor struct {
	Name, Title, Part, Processor string
	// Settings are those of its block; CLOCK stands for the clock in MHz.
	Settings [][2]string
	// Pins and ports: the clock and the reset that it makes, its interrupt, the master of registers and the slave of
	// memory with their clocks.
	ClockPin, ResetPin, InterruptPin       string
	Master, MasterClock, Slave, SlaveClock string
	Fixed                                  bool // pins of memory and peripherals are ports of the block design
	AddressBits                            int
}

var processors = []processor{
	{Name: "zynq7020", Title: "a Zynq-7020", Part: "xc7z020clg400-1",
		Processor: "xilinx.com:ip:processing_system7:5.5", Settings: [][2]string{{"PCW_USE_M_AXI_GP0", "1"},
			{"PCW_USE_S_AXI_HP0", "1"}, {"PCW_USE_FABRIC_INTERRUPT", "1"}, {"PCW_IRQ_F2P_INTR", "1"},
			{"PCW_EN_CLK0_PORT", "1"}, {"PCW_FPGA0_PERIPHERAL_FREQMHZ", "$clock_mhz"}},
		ClockPin: "FCLK_CLK0", ResetPin: "FCLK_RESET0_N", InterruptPin: "IRQ_F2P", Master: "M_AXI_GP0",
		MasterClock: "M_AXI_GP0_ACLK", Slave: "S_AXI_HP0", SlaveClock: "S_AXI_HP0_ACLK", Fixed: true, AddressBits: 32},
	{Name: "zynqmp", Title: "a Zynq UltraScale+", Part: "xczu3eg-sbva484-1-e",
		Processor: "xilinx.com:ip:zynq_ultra_ps_e:3.5", Settings: [][2]string{{"PSU__USE__M_AXI_GP0", "1"},
			{"PSU__USE__M_AXI_GP1", "0"}, {"PSU__USE__M_AXI_GP2", "0"}, {"PSU__USE__S_AXI_GP2", "1"},
			{"PSU__USE__IRQ0", "1"}, {"PSU__FPGA_PL0_ENABLE", "1"},
			{"PSU__CRL_APB__PL0_REF_CTRL__FREQMHZ", "$clock_mhz"}},
		ClockPin: "pl_clk0", ResetPin: "pl_resetn0", InterruptPin: "pl_ps_irq0", Master: "M_AXI_HPM0_FPD",
		MasterClock: "maxihpm0_fpd_aclk", Slave: "S_AXI_HP0_FPD", SlaveClock: "saxihp0_fpd_aclk", AddressBits: 40},
}

// systemClock is the clock of block designs in MHz, which the processor makes.
const systemClock = 100

// engines are an AXI DMA for each pair of an input and an output.
func engines(c *shell.Core) (list []engine, channels int) {
	var count [2]int
	for _, s := range c.Streams {
		side := 1
		if s.Input {
			side = 0
		}
		if count[side] == len(list) {
			list = append(list, engine{Control: 1 + len(list)})
		}
		e := &list[count[side]]
		if count[side]++; s.Input {
			e.In, e.InBits = s.Prefix, 8*s.Packet()
		} else {
			e.Out, e.OutBits = s.Prefix, 8*s.Packet()
		}
	}
	for i := range list {
		if e := &list[i]; e.In != "" {
			e.InPort, channels = channels, channels+1
		}
		if e := &list[i]; e.Out != "" {
			e.OutPort, channels = channels, channels+1
		}
	}
	return list, channels
}

// Systems are scripts that make block designs of Vivado around a design in the AXI shell, whose core is c.
func Systems(d *emit.Design, c *shell.Core) (files []rtl.File, err error) {
	t, err := template.ParseFS(parts, "system.tcl.tmpl")
	if err != nil {
		return nil, err
	}
	list, channels := engines(c)
	for _, p := range processors {
		var b bytes.Buffer
		data := struct {
			processor
			Top, File, Version, Vendor, Library, Release string
			ClockMHz, Controlled, Channels               int
			Engines                                      []engine
		}{p, d.Top + "_axi", p.Name + ".tcl", d.Version, shell.Vendor, shell.Library, shell.Release, systemClock,
			1 + len(list), channels, list}
		if err := t.Execute(&b, data); err != nil {
			return nil, err
		}
		files = append(files, rtl.File{Name: folder + data.File, Data: b.Bytes()})
	}
	return files, nil
}
