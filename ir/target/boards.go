// SPDX-License-Identifier: Apache-2.0

package target

import "strings"

// boards are those that users name in place of the device on them.
var boards = []struct{ names, device string }{
	{"arty-a7-35 arty-a7-35t arty basys3 basys-3 cmod-a7-35t", "xc7a35t"},
	{"arty-a7-100 arty-a7-100t nexys-a7 nexys-a7-100t nexys4-ddr", "xc7a100t"},
	{"pynq pynq-z1 pynq-z2 zedboard zybo-z7-20 arty-z7-20", "xc7z020"},
	{"genesys2 genesys-2 kc705", "xc7k325t"},
	{"ultra96 ultra96-v2", "xczu3eg"},
	{"kv260 kr260 kria", "xck26"},
	{"zcu104", "xczu7ev"},
	{"zcu102", "xczu9eg"},
	{"kcu116", "xcku5p"},
	{"vcu118", "xcvu9p"},
	{"ulx3s ulx3s-85f", "ecp5-85k"},
	{"icebreaker upduino", "ice40-up5k"},
	{"tang-nano-9k", "gowin-gw1nr-9"},
}

// board is the device on a board; "" for a name that is none.
func board(name string) string {
	name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	for _, b := range boards {
		for _, n := range strings.Fields(b.names) {
			if strings.ReplaceAll(n, "-", "") == strings.ReplaceAll(name, "-", "") {
				return b.device
			}
		}
	}
	return ""
}
