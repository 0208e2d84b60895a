// SPDX-License-Identifier: Apache-2.0

package tidy

// plantedPages are violations of the rules of pages.
var plantedPages = map[string][]violation{
	"anchors": {
		{"this page", map[string]string{"docs/area.md": "# A b: `c`\n[x](#a-b)\n"}, "docs/area.md has no heading #a-b"},
		{"another", map[string]string{"docs/area.md": "[x](decisions/house.md#d)\n", "docs/decisions/house.md": "# D e\n"},
			"docs/decisions/house.md has no heading #d"},
		{"code", map[string]string{"docs/area.md": "[x](#a)\n```\n# A\n```\n"}, "docs/area.md has no heading #a"},
		{"good", map[string]string{"docs/decisions/house.md": "# E\n",
			"docs/area.md": "# A b: `c_d`?\n[x](#a-b-c_d) [y](decisions/house.md#e) [z](https://e.f/g#h)\n"}, ""},
	},
	"decisions": {
		{"missing", decisionTree("- [Why?](decisions/house.md#why)\n"),
			`question 2 of docs/decisions/house.md is "Why not?"`},
		{"order", decisionTree("- [Why not?](decisions/house.md#why-not)\n- [Why?](decisions/house.md#why)\n"),
			`question 1 of docs/decisions/house.md is "Why?"`},
		{"surplus", decisionTree("- [Why?](decisions/house.md#why)\n- [Why not?](decisions/house.md#why-not)\n" +
			"- [Who?](decisions/house.md#who)\n"), `docs/decisions/house.md has no question "Who?"`},
		{"good", decisionTree("- [Why?](decisions/house.md#why)\n- [Why not?](decisions/house.md#why-not)\n"), ""},
	},
	"manual": {
		{"target", manualTree("README.md", "    make nothing\n"), "make nothing: no such target"},
		{"command", manualTree("docs/area.md", "    lathe runn x\n"), "lathe runn: no such command"},
		{"file", manualTree("docs/commands.md", "    lathe run examples/none/model.onnx\n"),
			"examples/none/model.onnx does not exist"},
		{"not shown", manualTree("docs/commands.md", "lathe run\n"), "does not show lathe run"},
		{"good", manualTree("docs/commands.md",
			"make nothing\n```\n$ make test\nlathe run examples/a/m.onnx --x examples/a\n```\n"), ""},
		{"variable", manualTree("README.md", "    lathe run examples/$m/model.onnx\n    make -C examples/a\n"), ""},
		{"elsewhere", manualTree("docs/emitted.md", "    make icarus\n"), ""},
		{"another page", manualTree("docs/area.md", "lathe run\n"), ""},
	},
}

func decisionTree(index string) map[string]string {
	return map[string]string{decisionIndex: "# Decisions\n" + index,
		"docs/decisions/house.md": "# A\n## Why?\nSo.\n## Why not?\nNo.\n"}
}

func manualTree(page, text string) map[string]string {
	return map[string]string{
		page: text, "Makefile": "test: setup\n\tgo test\n", "examples/a/m.onnx": "\x00",
		"internal/cli/run.go": "package cli\n\nvar c = C{\n\tUse: \"run MODEL\",\n}\n",
	}
}
