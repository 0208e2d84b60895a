// SPDX-License-Identifier: Apache-2.0

package triton

import (
	"regexp"
	"strings"
	"testing"

	"lathe/cuda/ptx"
	"lathe/internal/diag"
)

// planted are faults in the text of kernels: what the pattern finds becomes fault; at the last place only where last is
// set, else everywhere. code is that of the error, "" where only the values tell; says is a part of the message.
var planted = []struct {
	name, file, sound, fault string
	last                     bool
	code                     diag.Code
	says                     string
}{
	{"no wait for a phase", "matmul_boxes.sm_90", `mbarrier.try_wait\S+ complete, [^;]*;`, "mov.pred complete, -1;",
		false,
		"L0973", "has not waited for its phase"},
	{"a parity that does not change", "matmul_boxes.sm_90", `(complete, \[%r\d+\]), %r\d+;`, "$1, 0;", false,
		"L0969", "phase 2 lacks 1 of 1"},
	{"too few bytes are expected", "matmul_boxes.sm_90", `, 16384;`, ", 16368;", false,
		"L0969", "16 bytes landed that were not announced"},
	{"too many bytes are expected", "matmul_boxes.sm_90", `, 16384;`, ", 16400;", false,
		"L0969", "lacks 0 of 1 arrivals and 16 bytes that were announced"},
	{"no arrival", "matmul_boxes.sm_90", `mbarrier.arrive.expect_tx(\S+) _, `, "mbarrier.expect_tx.relaxed.cta$1 ",
		false,
		"", ""},
	{"no fence in front of the store", "matmul_boxes.sm_90", `fence.proxy.async.shared::cta;`, "", true,
		"L0958", "no fence.proxy.async"},
	{"no barrier in front of the store", "matmul_boxes.sm_90",
		`(fence.proxy.async.shared::cta;)\s+bar.sync\s+0;`, "$1", true, "L0967", "no barrier stands in between"},
	{"the fence in front of what it is for", "matmul_boxes.sm_90",
		`((?s)stmatrix.*)fence.proxy.async.shared::cta;`, "fence.proxy.async.shared::cta;\n$1", false, "L0958", ""},
	{"the thread ends before its store", "matmul_boxes.sm_90", `cp.async.bulk.wait_group\s+0;`, "", true,
		"L0973", "may still read shared memory"},
	{"another swizzle", "matmul_boxes.sm_90", `4611686293305294848`, "0x8000004000010000", false, "", ""},
	{"a step along K", "matmul_boxes.sm_90", `add.s32\s+(%r\d+), (%r\d+), 6;`, "add.s32 $1, $2, 4;", false, "", ""},
	{"a descriptor inside of its pattern", "matmul_boxes.sm_90", `add.s32\s+(%r\d+), (%r\d+), 6;`, "add.s32 $1, $2, 14;",
		false, "L0959", "inside of the pattern"},
	{"sums are read in flight", "matmul_boxes.sm_90", `wgmma.wait_group.sync.aligned 0;`, "", true,
		"L0957", "reads an accumulator of the wgmma"},
	{"a stage is filled while it is read", "matmul_boxes.sm_90", `wgmma.wait_group.sync.aligned 1;`,
		"wgmma.wait_group.sync.aligned 2;", false, "L0973", "is still reading"},
	{"no wgmma.fence", "matmul_boxes.sm_90", `wgmma.fence.sync.aligned;`, "", false, "L0957", "no wgmma.fence"},
	{"no commit", "matmul_boxes.sm_90", `wgmma.commit_group.sync.aligned;`, "", false, "L0973", "is still reading"},
	{"no mbarrier", "matmul_boxes.sm_90", `@%p2 mbarrier.init[^;]*;`, "", false, "L0972", "there is no mbarrier"},
	{"one mbarrier over another", "matmul_persistent.sm_90", `@%p\d+ mbarrier.inval[^;]*;`, "", false,
		"L0972", "made again without mbarrier.inval"},
	{"operands of the asynchronous proxy without a fence", "matmul.sm_90", `fence.proxy.async.shared::cta;`, "", false,
		"L0958", "cp.async.cg"},
	{"copies are not waited for", "matmul.sm_90", `cp.async.wait_group\s+2;`, "cp.async.wait_group 4;", false,
		"L0973", "in flight"},
	{"no barrier behind copies", "matmul.sm_80", `(cp.async.wait_group\s+\d;)\s+bar.sync\s+0;`, "$1", false, "L0967",
		""},
	{"no barrier between parts of a sum", "softmax.sm_80", `bar.sync\s+0;`, "", true, "L0967", ""},
	{"weights in flight are overwritten", "attention.sm_90", `wgmma.wait_group.sync.aligned 0;`, "", true, "L0957", ""},
}

// TestPlanted demands that every fault is found in one run of the race detector, most of them by name.
func TestPlanted(t *testing.T) {
	byFile := map[string]task{}
	for _, x := range tasks() {
		byFile[x.file] = x
	}
	for _, f := range planted {
		k := read(t, f.file)
		pattern := regexp.MustCompile(f.sound)
		places := pattern.FindAllStringIndex(k.text, -1)
		if len(places) == 0 {
			t.Errorf("%s: %s has no %s", f.name, f.file, f.sound)
			continue
		}
		if from := 0; f.last {
			from = places[len(places)-1][0]
			k.text = k.text[:from] + pattern.ReplaceAllString(k.text[from:], f.fault)
		} else {
			k.text = pattern.ReplaceAllString(k.text, f.fault)
		}
		_, wrong, err := byFile[f.file].run(t, k, ptx.Options{Races: true, Lanes: true})
		if err == nil && wrong == "" || f.code != "" && (diag.CodeOf(err) != f.code || !strings.Contains(err.Error(),
			f.says)) {
			t.Errorf("%s: %v%s, not %s with %q", f.name, err, wrong, f.code, f.says)
		}
		t.Logf("%s: %.300v%.100s", f.name, err, wrong)
	}
}
