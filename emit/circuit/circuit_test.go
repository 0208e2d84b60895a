// SPDX-License-Identifier: Apache-2.0

package circuit

import (
	"slices"
	"strings"
	"testing"

	"lathe/emit"
	"lathe/rtl"
)

func TestLex(t *testing.T) {
	cases := []struct{ text, want string }{
		{"a<=b; // c\n/* d; */ e", "a <= b ; e"},
		{"(* rom_style = \"auto // x\" *) reg [W-1:0] \\a+b ;", "(* rom_style = \"auto // x\" *) reg [ W - 1 : 0 ] \\a+b ;"},
		{"always @(*) if (a && &b) $error(\"\\\"\");", "always @ (*) if ( a && & b ) $error ( \"\\\"\" ) ;"},
		{"32'h91f7_1b 4'sb1?x '0 W'(x) 8'd3-1 'z", "32'h91f7_1b 4'sb1?x '0 W ' ( x ) 8'd3 - 1 'z"},
		{"1.5e-3 2.e 3e4 a.b a+:2 x>>>=1", "1.5e-3 2 . e 3e4 a . b a +: 2 x >>>= 1"},
		{"`default_nettype none", "`default_nettype none"},
		{"a /* open", "a"},
		{"\"open", "\"open"},
		{"'", "'"},
	}
	for _, c := range cases {
		if got := strings.Join(lex(c.text), " "); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
}

func FuzzLex(f *testing.F) {
	f.Add("module a #(.B(1'b0)) (* keep *) \"x\\\"\" \\esc 1.5e+3 // end")
	f.Fuzz(func(t *testing.T, text string) {
		for _, token := range lex(text) {
			if token == "" || !strings.Contains(text, token) {
				t.Fatalf("token %q of %q", token, text)
			}
		}
	})
}

const (
	topText = `// t
module t (input wire clk, input wire [7:0] s_data);
  t_core u_core (.clk(clk), .in_data(s_data));
endmodule`
	coreText = `module t_core (input wire clk, input wire [7:0] in_data);
  wire [7:0] a_data; // the first
  (* keep = "true" *)
  stream_skid #(.WIDTH(8)) a (.clk(clk), .in_data(in_data), .out_data(a_data));
  t_body b (.clk(clk), .in_data(a_data));
  mem_rom #(.WIDTH(4), .INIT("b.mem"), .SUM(32'h5)) rom (.clk(clk));
endmodule`
	bodyText = "module t_body (input wire clk, input wire [7:0] in_data);\n  wire z = in_data[0] && &in_data;\nendmodule"
)

// design is a small one, with its library modules, some texts replaced.
func design(t *testing.T, replace ...string) *emit.Design {
	t.Helper()
	lib, err := rtl.Files("stream_skid", "mem_rom")
	if err != nil {
		t.Fatal(err)
	}
	files := append(lib, rtl.File{Name: "t_body.sv", Data: []byte(bodyText)},
		rtl.File{Name: "t_core.sv", Data: []byte(coreText)}, rtl.File{Name: "t.v", Data: []byte(topText)},
		rtl.File{Name: "b.mem", Data: []byte("1\n4\n")}, rtl.File{Name: "outside.mem", Data: []byte("7\n")})
	change := strings.NewReplacer(replace...)
	for i, f := range files {
		files[i] = rtl.File{Name: change.Replace(f.Name), Data: []byte(change.Replace(string(f.Data)))}
	}
	return &emit.Design{Top: change.Replace("t"), Files: files}
}

func digestOf(t *testing.T, d *emit.Design) string {
	t.Helper()
	c, err := Of(d)
	if err != nil {
		t.Fatal(err)
	}
	return c.Digest(nil)
}

// TestMeaning changes texts: comments, white space and names are nothing, everything else is another circuit.
func TestMeaning(t *testing.T) {
	base := digestOf(t, design(t))
	for _, same := range [][]string{
		{"// the first", "// of all"}, {"full-throughput register slice", "cuts paths"}, {"  wire", "\twire"},
		{"a_data", "other_data"}, {"t_body", "t_table"}, {"b.mem", "c.mem"}, {"t_core u_core", "t_core core"},
		{"t_core", "n_core", "module t (", "module n (", "t.v", "t.v"}, {"s_data", "in_data"}, {" z = ", " zz = "},
	} {
		if got := digestOf(t, design(t, same...)); got != base {
			t.Errorf("%q: another circuit", same)
		}
	}
	for _, other := range [][]string{
		{"WIDTH(8)", "WIDTH(9)"}, {"1\n4\n", "1\n5\n"}, {"7\n", "8\n"}, {"&& &in", "& &in"}, {"in_data[0]", "in_data[1]"},
		{"keep", "dont_touch"}, {".in_data(a_data)", ".in_data(in_data)"}, {"\"true\"", "\"false\""},
		{"spare_valid <= 1'b1", "spare_valid <= 1'b0"}, {".out_data(a_data)", ".out_valid(a_data)"},
		{"stream_skid #(.WIDTH(8)) a (", "stream_skid #(.WIDTH(8)) b (", "t_body b (", "t_body a (", "a_data", "in_data"},
	} {
		if got := digestOf(t, design(t, other...)); got == base {
			t.Errorf("%q: the same circuit", other)
		}
	}
	if _, err := Of(&emit.Design{Top: "t"}); err == nil {
		t.Error("a design without its top is a circuit")
	}
}

// TestUnits finds instances and parameters.
func TestUnits(t *testing.T) {
	c, err := Of(design(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Units) != 2 || c.Units[0].Module != "stream_skid" || c.Units[1].Module != "mem_rom" {
		t.Fatalf("units %+v", c.Units)
	}
	if got := c.Units[0].Params; !slices.Equal(got, []rtl.Param{{Name: "WIDTH", Value: "8"}}) {
		t.Errorf("parameters %+v", got)
	}
	p := c.Units[1].Params
	if len(p) != 3 || p[0].Value != "4" || !strings.HasPrefix(p[1].Value, "%image ") || p[2].Value != "32'h5" {
		t.Errorf("parameters %+v", p)
	}
}

// TestEdges has digests stand over changes of a module that are proven, also of one inside of another, one change after
// the other, and over no other change.
func TestEdges(t *testing.T) {
	lib := func(leaf, other string) Library {
		l := Library{"top": {Tokens: "t", Deps: []string{"leaf", "other"}}, "leaf": {Tokens: leaf}, "other": {Tokens: other}}
		return l
	}
	first := lib("1", "o")
	base := Circuit{Structure: "s", Units: []Unit{{Module: "top"}}, Library: first}
	want := base.Digest(nil)
	var proven []Edge
	for _, text := range []string{"2", "3"} {
		changed := base
		changed.Library = lib(text, "o")
		if changed.Digest(proven) == want {
			t.Fatalf("text %s makes no difference", text)
		}
		edge := Edge{Module: "leaf", Old: first.Hashes(nil)["leaf"], New: changed.Library.Hashes(proven)["leaf"]}
		if text == "3" { // it is proven to be what the second text was
			edge.Old = lib("2", "o").Hashes(nil)["leaf"]
		}
		proven = append(proven, edge)
		if got := changed.Digest(proven); got != want {
			t.Errorf("text %s, proven: %s, want %s", text, got, want)
		}
		if changed.Digest(nil) == want {
			t.Errorf("text %s without proof is the first", text)
		}
		changed.Library = lib(text, "p")
		if changed.Digest(proven) == want {
			t.Errorf("text %s: another module may change too", text)
		}
	}
}

// TestLibrary reads the whole library: what a module depends on is what its header says, and comments are nothing.
func TestLibrary(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range rtl.Modules() {
		h, err := rtl.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(all[name].Deps, h.Deps) {
			t.Errorf("%s instantiates %v, by its tokens %v", name, h.Deps, all[name].Deps)
		}
	}
	if !all.Holds("op_linear", "num_dsp") || all.Holds("stream_skid", "num_dsp") || !all.Holds("num_dsp", "num_dsp") {
		t.Error("who holds num_dsp is not found")
	}
}
