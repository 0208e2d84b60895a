// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"fmt"
	"strings"
	"testing"

	graph "lathe/ir/text"
)

// maskCases are computations of a mask %m from %keys [1,3], for 3 tokens, and how weights of attention see them: as
// mask of keys, with or without causal order, or not at all.
var maskCases = []struct{ name, nodes, want string }{
	{"truth values", `%m = convert(%keys) {to = "bool"} : 1x3 bool`, "keys"},
	{"added", `
  %zero = const {data = f32 [0]} : scalar fp32
  %low = const {data = f32 [-3.4e38]} : scalar fp32
  %live = convert(%keys) {to = "bool"} : 1x3 bool
  %row = reshape(%live) {shape = [1, 1, 1, 3]} : 1x1x1x3 bool
  %m = where(%row, %zero, %low) : 1x1x1x3 fp32`, "keys"},
	{"one minus the mask", `
  %one = const {data = f32 [1]} : scalar fp32
  %low = const {data = f32 [-1e9]} : scalar fp32
  %live = convert(%keys) {to = "f32"} : 1x3 fp32
  %not = sub(%one, %live) : 1x3 fp32
  %m = mul(%not, %low) : 1x3 fp32`, "keys"},
	{"with causal order", `
  %live = convert(%keys) {to = "bool"} : 1x3 bool
  %order = const {data = u8 [1, 0, 0, 1, 1, 0, 1, 1, 1]} : 3x3 bool
  %m = and(%live, %order) : 3x3 bool`, "keys causal"},
	{"of tokens", `
  %live = convert(%keys) {to = "bool"} : 1x3 bool
  %m = reshape(%live) {shape = [3, 1]} : 3x1 bool`, ""},
	{"of keys and tokens", `
  %live = convert(%keys) {to = "bool"} : 1x3 bool
  %column = reshape(%live) {shape = [3, 1]} : 3x1 bool
  %m = and(%live, %column) : 3x3 bool`, ""},
	{"of other keys", `
  %live = convert(%keys) {to = "bool"} : 1x3 bool
  %to = const {data = i32 [0, 2, 1]} : 3 i32
  %m = gather(%live, %to) {axis = 1} : 1x3 bool`, ""},
	{"turned over", `
  %live = convert(%keys) {to = "bool"} : 1x3 bool
  %m = not(%live) : 1x3 bool`, ""},
	{"too small", `
  %one = const {data = f32 [1]} : scalar fp32
  %low = const {data = f32 [-3]} : scalar fp32
  %live = convert(%keys) {to = "f32"} : 1x3 fp32
  %not = sub(%one, %live) : 1x3 fp32
  %m = mul(%not, %low) : 1x3 fp32`, ""},
	{"with an order that hides a key of the past", `
  %live = convert(%keys) {to = "bool"} : 1x3 bool
  %order = const {data = u8 [1, 0, 0, 1, 1, 0, 0, 1, 1]} : 3x3 bool
  %m = and(%live, %order) : 3x3 bool`, ""},
	{"of sums of keys", `
  %sums = cumsum(%keys) {axis = 1} : 1x3 i64
  %m = convert(%sums) {to = "bool"} : 1x3 bool`, ""},
	{"by keys that are read otherwise", `
  %table = const {data = f32 [1, 2, 3, 4, 5, 6]} : 3x2 fp32
  %rows = gather(%table, %keys) : 1x3x2 fp32
  %m = convert(%keys) {to = "bool"} : 1x3 bool
  %flat = reshape(%rows) {shape = [1, 1, 3, 2]} : 1x1x3x2 fp32`, ""},
}

// TestComputedMask sees masks of keys in what exporters make of attention_mask, and in nothing else.
func TestComputedMask(t *testing.T) {
	for _, c := range maskCases {
		t.Run(c.name, func(t *testing.T) {
			out := "y = %y"
			if strings.Contains(c.nodes, "%flat") {
				out += ", flat = %flat"
			}
			formats := strings.NewReplacer(
				" bool", " uint(1,over=wrap)", " i64", " int(64,over=wrap)", "3 i32", "3 int(32,over=wrap)")
			g, err := graph.Parse("m.lathe", formats.Replace(fmt.Sprintf(`lathe 1
graph %%m float(%%x, %%keys) {
  %%x = input : 1x2x3x4 fp32
  %%keys = input : 1x3 i64
  %s
  %%y = attention(%%x, %%x, %%x, %%m) : 1x2x3x4 fp32
  return %s
}
`, strings.TrimSpace(c.nodes), out)), nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := TokensFirst(g); err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, n := range g.Nodes {
				if n.Op.Name == "attend_weights" {
					got = strings.TrimSpace(map[bool]string{true: "keys "}[len(n.Args) == 2 && n.Args[1].Name == "keys"] +
						map[bool]string{true: "causal"}[strings.Contains(fmt.Sprintf("%+v", n.Attrs), "Causal:true")])
				}
			}
			if got != c.want {
				t.Errorf("seen as %q, want %q", got, c.want)
			}
		})
	}
}
