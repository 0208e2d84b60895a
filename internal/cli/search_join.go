// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"lathe/internal/choose"
	"lathe/internal/choose/space"
	"lathe/internal/diag"
	"lathe/search"
	"lathe/search/pruner"
	"lathe/search/sampler"
)

// newSearchStudy is a study that is in no storage yet; an empty sampler is the usual one.
func newSearchStudy(model *choose.Meter, s *space.Space, name string, seed uint64) (b *searchStudy, err error) {
	b = &searchStudy{model: model, space: s}
	b.Study = &search.Study{Space: s.Parameters, Now: time.Now, Fresh: true, Seed: seed}
	name = cmp.Or(name, sampler.Names()[0])
	if name == "cmaes" && len(s.Objectives) > 1 {
		return nil, usagef("--sampler cmaes is for one objective, and there are %d: use tpe or nsga2", len(s.Objectives))
	}
	if b.Sampler, err = sampler.New(name, search.Mix(seed, -1), b.Space); err == nil && b.Sampler == nil {
		err = oneOf("--sampler", name, sampler.Names()...)
	}
	return b, err
}

// prunes gives the study a pruner: that of a flag, or of the space, or the usual one where trials have rungs.
func (b *searchStudy) prunes(flag string) error {
	if flag != "" && !b.space.Climbs() {
		return usagef("--pruner %s compares trials on rungs: the space has no table [rung]", flag)
	}
	if b.space.Climbs() {
		b.Pruner = pruner.New(cmp.Or(flag, b.space.Study.Pruner, pruner.Names()[0]))
	}
	return nil
}

// join finds the study in its storage, or makes it.
func (b *searchStudy) join(ctx context.Context, f *searchFlags, fresh bool) error {
	storage, err := f.open(ctx, true)
	if err != nil {
		return err
	}
	b.Storage, b.remote = storage, f.server()
	all, err := storage.Studies(ctx)
	if err != nil {
		return err
	}
	for _, info := range all {
		if info.Name == f.study && !fresh {
			b.Info = info
			return b.fits(f)
		}
	}
	var made *remembered
	if b.command != nil {
		if made, err = b.command(); err != nil {
			return err
		}
	}
	id, err := storage.CreateStudy(ctx, f.study, b.space.Directions())
	if err != nil {
		return diag.At(err, diag.StudyStorage, f.shown())
	}
	err = storage.SetStudy(ctx, id, search.Attr{System: true, Key: search.NamesKey, Value: search.Encode(b.space.Names())},
		search.Attr{Key: search.SpaceKey, Value: search.Encode(b.Space)},
		search.Attr{Key: search.SamplerKey, Value: search.Encode(b.Sampler.Name())},
		search.Attr{Key: search.SeedKey, Value: search.Encode(b.Seed)},
		search.Attr{Key: epochsKey, Value: search.Encode(b.space.Epochs())},
		search.Attr{Key: fidelityKey, Value: search.Encode(b.space.Fidelity())},
		search.Attr{Key: runKey, Value: search.Encode(made)})
	if err != nil {
		return err
	}
	b.Info, err = search.Find(ctx, storage, f.shown(), f.study)
	return err
}

// epochsKey is the attribute of a study that says for how many epochs each trial is trained; none is 0. fidelityKey
// says on which rungs trials are measured, and how new models are trained.
const epochsKey, fidelityKey = "lathe:epochs", "lathe:fidelity"

// fits refuses a study that was made for something else: its trials would not compare.
func (b *searchStudy) fits(f *searchFlags) error {
	var had search.Space
	var names []string
	other := func(what string) error {
		return diag.New(diag.StudyOther, f.shown(), "study %q was made for another space: %s", f.study, what).
			WithHint("--study with a new name begins another study")
	}
	if raw := b.Info.User[search.SpaceKey]; json.Unmarshal(raw, &had) != nil {
		return other("it does not say for which")
	}
	if what := had.Differs(b.Space); what != "" {
		return other(what)
	}
	epochs := 0
	if raw, ok := b.Info.User[epochsKey]; ok && json.Unmarshal(raw, &epochs) != nil || epochs != b.space.Epochs() {
		return other(fmt.Sprintf("its trials are trained for %s", diag.Amount(epochs, "epoch")))
	}
	fidelity := ""
	if raw, ok := b.Info.User[fidelityKey]; ok && json.Unmarshal(raw, &fidelity) != nil || fidelity != b.space.Fidelity() {
		return other(fmt.Sprintf("its trials are measured by %q", fidelity))
	}
	if raw := b.Info.System[search.NamesKey]; json.Unmarshal(raw, &names) != nil {
		return other("its objectives have no names")
	}
	if want := strings.Join(b.space.Names(), ", "); strings.Join(names, ", ") != want {
		return other(fmt.Sprintf("its objectives were %s and are %s", strings.Join(names, ", "), want))
	}
	for i, d := range b.space.Directions() {
		if d != b.Info.Directions[i] {
			return other(fmt.Sprintf("%s was to %s", names[i], strings.ToLower(b.Info.Directions[i].String())))
		}
	}
	return nil
}
