// SPDX-License-Identifier: Apache-2.0

package op

import (
	"reflect"
	"testing"

	"lathe/ir"
)

// fewOps are the traits of at most three operations, with the reason why they are traits and no question of a room.
var fewOps = map[string]string{
	"Source": "every engine asks it", "Forks": "package ir counts readers by it", "Wire": "rooms ask it of each other",
	"Casts": "rooms ask it of each other", "Joins": "rooms ask it of each other", "Meets": "package ir asks it",
	"Perm":      "front ends read its attribute, whichever operation has it",
	"Positions": "front ends and rooms ask it of each other",
	"Compares":  "what KeepsCodes leaves open", "BlockCodes": "what KeepsCodes is on blocks",
	"Fraction": "norms and sequences have it",
}

// TestFewTraits: a trait that few operations have is a question of their room (norm.HasGains), or an exception by name.
func TestFewTraits(t *testing.T) {
	of := reflect.TypeFor[ir.Traits]()
	for i := range of.NumField() {
		var having []string
		for _, o := range All {
			if !reflect.ValueOf(o.Traits).Field(i).IsZero() {
				having = append(having, o.Name)
			}
		}
		name := of.Field(i).Name
		if few := len(having) <= 3; few != (fewOps[name] != "") {
			t.Errorf("trait %s of %d operations (%v): named as an exception: %v", name, len(having), having, !few)
		}
	}
	for name := range fewOps {
		if _, there := of.FieldByName(name); !there {
			t.Errorf("%s is no trait", name)
		}
	}
}
