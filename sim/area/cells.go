// SPDX-License-Identifier: Apache-2.0

package area

import (
	"fmt"
	"regexp"
	"strings"
)

// Cells counts FPGA primitives. LUT is what a vendor's report calls "CLB LUTs": logic, shift registers and LUT
// memory together; SRL and LUTRAM say how much of it is not logic.
type Cells struct {
	LUT    int `json:"lut"`
	SRL    int `json:"srl"`    // LUTs used as shift registers, part of LUT
	LUTRAM int `json:"lutram"` // LUTs used as memory, part of LUT
	FF     int `json:"ff"`
	Latch  int `json:"latch"` // a design of Lathe has none
	DSP    int `json:"dsp"`
	BRAM18 int `json:"bram18"`
	BRAM36 int `json:"bram36"`
	BRAM4  int `json:"bram4,omitempty"`
	URAM   int `json:"uram"`
	Carry4 int `json:"carry4"` // carry chain elements of four bits; two make one CARRY8
	Mux    int `json:"mux"`    // MUXF7 to MUXF9
	INV    int `json:"inv"`    // inverters, which the vendor's tools absorb into LUTs
	Buffer int `json:"buffer"` // pads and clock buffers
}

// BRAM is block RAM in units of 36 Kib; an 18 Kib block is a half, a 4 Kib block a ninth.
func (c Cells) BRAM() float64 { return float64(c.BRAM36) + float64(c.BRAM18)/2 + float64(c.BRAM4)/9 }

func (c *Cells) add(o Cells) {
	c.LUT += o.LUT
	c.SRL += o.SRL
	c.LUTRAM += o.LUTRAM
	c.FF += o.FF
	c.Latch += o.Latch
	c.DSP += o.DSP
	c.BRAM18 += o.BRAM18
	c.BRAM36 += o.BRAM36
	c.BRAM4 += o.BRAM4
	c.URAM += o.URAM
	c.Carry4 += o.Carry4
	c.Mux += o.Mux
	c.INV += o.INV
	c.Buffer += o.Buffer
}

// lutMemory is the LUTs that one LUT memory primitive occupies: of AMD by UG574, distributed RAM.
var lutMemory = map[string]int{
	"RAM32X1S": 1, "RAM64X1S": 1, "RAM128X1S": 2, "RAM256X1S": 4, "RAM512X1S": 8,
	"RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4, "RAM256X1D": 8, "RAM64X8SW": 8,
	"RAM32M": 4, "RAM64M": 4, "RAM32M16": 8, "RAM64M8": 8,
	// ECP5 and Gowin: 16 words of 4 bits take four LUTs (FPGA-TN-02204, UG285).
	"TRELLIS_DPR16X4": 4, "RAM16SDP4": 4, "RAM16SDP2": 2, "RAM16SDP1": 1,
}

// flipFlop are those of iCE40 and Gowin, whose names say what they do with enable, set and reset.
var flipFlop = regexp.MustCompile(`^(SB_DFF(N?)(E?)(SR|R|SS|S)?|DFFN?(E|S|SE|R|RE|P|PE|C|CE)?)$`)

// count adds n primitives of a type, or says that the type is unknown: a primitive that nobody counts would make
// the design look smaller than it is.
func (c *Cells) count(cell string, n int) error {
	if luts, ok := lutMemory[cell]; ok {
		c.LUT += n * luts
		c.LUTRAM += n * luts
		return nil
	}
	switch cell {
	case "LUT1", "LUT2", "LUT3", "LUT4", "LUT5", "LUT6", "SB_LUT4":
		c.LUT += n
	case "CCU2C": // two bits of a carry chain, each with the LUT in front of it
		c.LUT += 2 * n
	case "ALU": // Gowin: a bit of a carry chain with its LUT
		c.LUT += n
	case "SRL16E", "SRLC16E", "SRLC32E":
		c.LUT += n
		c.SRL += n
	case "TRELLIS_FF", "FDRE", "FDSE", "FDCE", "FDPE", "FDRE_1", "FDSE_1", "FDCE_1", "FDPE_1":
		c.FF += n
	case "LDCE", "LDPE":
		c.Latch += n
	case "DSP48E1", "DSP48E2", "MULT18X18D", "ALU54B", "SB_MAC16":
		c.DSP += n
	case "RAMB18E1", "RAMB18E2", "DP16KD", "PDPW16KD", "SDPB", "SDPX9B", "SDPX9", "DPB",
		"DPX9B", "DPX9", "SP", "SPX9", "pROM", "pROMX9":
		c.BRAM18 += n
	case "RAMB36E1", "RAMB36E2":
		c.BRAM36 += n
	case "SB_RAM40_4K", "SB_RAM40_4KNR", "SB_RAM40_4KNW", "SB_RAM40_4KNRNW":
		c.BRAM4 += n
	case "URAM288":
		c.URAM += n
	case "CARRY4":
		c.Carry4 += n
	case "CARRY8":
		c.Carry4 += 2 * n
	case "MUXF7", "MUXF8", "MUXF9", "PFUMX", "L6MUX21", "MUX2_LUT5", "MUX2_LUT6", "MUX2_LUT7", "MUX2_LUT8":
		c.Mux += n
	case "INV":
		c.INV += n
	case "BUFG", "BUFGCTRL", "IBUF", "OBUF", "IBUFG":
		c.Buffer += n
	case "GND", "VCC", "$scopeinfo": // no hardware
	case "SB_CARRY": // part of the cell of a LUT that reads it
	default:
		if flipFlop.MatchString(cell) {
			c.FF += n
			return nil
		}
		if strings.HasPrefix(cell, "$") {
			return fmt.Errorf("%d cells of type %s were left without a mapping", n, cell)
		}
		return fmt.Errorf("%d cells of the unknown type %s", n, cell)
	}
	return nil
}
