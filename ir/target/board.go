// SPDX-License-Identifier: Apache-2.0

package target

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"lathe/internal/diag"
)

// Board is an FPGA with what stands around it: enough to make a bitstream of a design that talks over a serial line.
type Board struct {
	// Name is what users write, Title what it is called. Part is the device on it, as Find takes it.
	Name, Title, Part string
	// Oscillator is the clock that comes in, in MHz; PLL makes that of the design of it. Clock is the usual one.
	Oscillator float64
	PLL        *PLL
	Clock      float64
	// Baud is the rate of the serial line in bits a second, the most that the chip behind it takes.
	Baud int
	Pins Pins
	// Load is the command that configures the board, with %s for the file.
	Load string
}

// Pins are sites of the package, by what they are for. Source: the files of constraints that the makers publish,
// ulx3s_v20.lpf and icebreaker.pcf.
type Pins struct {
	Clock, Receive, Transmit string
	// LEDs are lights that are on at 1, or at 0 where LEDsLow says so.
	LEDs    []string
	LEDsLow bool
	// Button resets the design while it is pressed, and is then 1, or 0 where ButtonLow says so; "" if there is none.
	Button    string
	ButtonLow bool
	// High are outputs that must be 1.
	High []string
}

// Boards lists the boards for which bitstreams are made.
func Boards() []Board {
	return []Board{
		{Name: "ulx3s-85f", Title: "Radiona ULX3S with LFE5U-85F", Part: "ecp5-85k", Oscillator: 25, PLL: ecp5PLL,
			Clock: 75, Baud: 3_000_000, Load: "openFPGALoader -b ulx3s %s",
			Pins: Pins{Clock: "G2", Receive: "M1", Transmit: "L4", Button: "R1",
				LEDs: []string{"B2", "C2", "C1", "D2", "D1", "E2", "E1", "H3"},
				High: []string{"L2"}}}, // GPIO 0 of the other processor, which would restart the board
		{Name: "icebreaker", Title: "1BitSquared iCEBreaker with iCE40UP5K", Part: "ice40-up5k", Oscillator: 12,
			PLL: ice40PLL, Clock: 24, Baud: 3_000_000, Load: "openFPGALoader -b ice40_generic %s",
			Pins: Pins{Clock: "35", Receive: "6", Transmit: "9", Button: "10", ButtonLow: true,
				LEDs: []string{"11", "37"}, LEDsLow: true}},
	}
}

// FindBoard is the board of a name, in any case. Error L1201 lists all.
func FindBoard(name string) (*Board, error) {
	var names []string
	for _, b := range Boards() {
		if strings.EqualFold(b.Name, name) {
			return &b, nil
		}
		names = append(names, b.Name)
	}
	err := diag.New(diag.UnknownBoard, "", "unknown board %q", name)
	if near := diag.Nearest(strings.ToLower(name), names); near != "" {
		return nil, err.WithHint("did you mean %s? lathe board list shows all: %s", near, strings.Join(names, ", "))
	}
	return nil, err.WithHint("use one of %s; other boards take the AXI4-Stream ports of the design as they are",
		strings.Join(names, ", "))
}

// Device is that on the board, in the grade that Part says.
func (b *Board) Device() (*Device, error) { return Find(b.Part) }

// Signal is a pin of a board, by the port of the top module that it has.
type Signal struct {
	Port, Site string
	Output     bool
	// Idle is the level of an input that nothing drives, "UP" or "DOWN"; "" for what is always driven.
	Idle string
}

// pull is how the pad is pulled.
func (s Signal) pull() string { return cmp.Or(s.Idle, "NONE") }

// The ports of a top module, those of lights and outputs at 1 with a number behind.
const (
	ClockPort  = "clk"
	RxPort     = "rx"
	TxPort     = "tx"
	ButtonPort = "button"
	LEDPort    = "led_"
	HighPort   = "high_"
)

// Signals lists the pins that a design uses.
func (b *Board) Signals() []Signal {
	list := []Signal{{Port: ClockPort, Site: b.Pins.Clock}, {Port: RxPort, Site: b.Pins.Receive, Idle: "UP"},
		{Port: TxPort, Site: b.Pins.Transmit, Output: true}}
	if b.Pins.Button != "" {
		idle := "DOWN"
		if b.Pins.ButtonLow {
			idle = "UP"
		}
		list = append(list, Signal{Port: ButtonPort, Site: b.Pins.Button, Idle: idle})
	}
	for i, site := range b.Pins.LEDs {
		list = append(list, Signal{Port: LEDPort + strconv.Itoa(i), Site: site, Output: true})
	}
	for i, site := range b.Pins.High {
		list = append(list, Signal{Port: HighPort + strconv.Itoa(i), Site: site, Output: true})
	}
	return list
}

// Constraints is the file of pins for nextpnr, LPF for ECP5 and PCF for iCE40. Errors are those of Find.
func (b *Board) Constraints() ([]byte, error) {
	d, err := b.Device()
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	r := d.Family.Router
	for _, s := range b.Signals() {
		fmt.Fprintf(&text, r.Locate+"\n", s.Port, s.Site)
		if r.Standard != "" {
			fmt.Fprintf(&text, r.Standard+"\n", s.Port, s.pull())
		}
	}
	fmt.Fprintf(&text, r.Frequency+"\n", ClockPort, diag.Number(b.Oscillator, -1))
	return text.Bytes(), nil
}
