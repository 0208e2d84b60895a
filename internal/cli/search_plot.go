// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"lathe/internal/choose"
	"lathe/internal/choose/space"
	"lathe/internal/diag"
	"lathe/ir/format"
	"lathe/search"
	"lathe/search/picture"
)

// pictures are those of a study that is kept.
func pictures(ctx context.Context, s *search.Study) ([]picture.Picture, error) {
	h, err := s.Corrected(ctx)
	if err != nil {
		return nil, err
	}
	var kept search.Space
	var parameters []search.Named
	if json.Unmarshal(s.Info.User[search.SpaceKey], &kept) == nil {
		for _, p := range kept {
			if !p.Dist.Single() && h.Column(p.Name) != nil {
				parameters = append(parameters, search.Named{Name: p.Name, Dist: p.Dist})
			}
		}
	} else {
		parameters = h.Common(false) // another program has made it
	}
	names := objectiveNames(s.Info)
	list := picture.Of(h, names, parameters)
	trials, err := s.Storage.Trials(ctx, s.Info.ID, 0, nil)
	if err != nil {
		return nil, err
	}
	ends := map[int]float64{}
	var first time.Time
	for _, t := range trials {
		if first.IsZero() || !t.Start.IsZero() && t.Start.Before(first) {
			first = t.Start
		}
		if !t.End.IsZero() && !first.IsZero() {
			ends[t.Number] = t.End.Sub(first).Minutes()
		}
	}
	if p, ok := picture.OverTime(h, names, ends); ok {
		list = append(list, p)
	}
	best, err := s.Best(ctx)
	if err != nil {
		return nil, err
	}
	if p, ok := picture.Formats(bitsOf(trials, best)); ok {
		list = append(list, p)
	}
	return list, nil
}

// bitsOf are the bits of the formats of some trials.
func bitsOf(trials []*search.Trial, numbers []int) (out []picture.Bits) {
	for _, n := range numbers {
		var formats map[string]string
		if json.Unmarshal(trials[n].User[space.FormatsKey], &formats) != nil {
			continue
		}
		b := picture.Bits{Trial: n, Bits: map[string]float64{}}
		for slot, text := range formats {
			if p, err := format.ParsePattern(text); err == nil {
				b.Bits[slot] = float64(p.Format.Width())
			}
		}
		out = append(out, b)
	}
	return out
}

func (a *App) searchPlot() *cobra.Command {
	var dir string
	c := a.watch("plot", "draw a study: progress, fronts, what decides", func(ctx context.Context, s *search.Study) error {
		if dir == "" {
			return usagef("lathe search plot needs -o")
		}
		list, err := pictures(ctx, s)
		if err != nil {
			return err
		}
		if err := makeFolder(dir); err != nil {
			return err
		}
		var files []string
		for _, p := range list {
			written, err := a.writePictures(dir, &p)
			if err != nil {
				return err
			}
			files = append(files, written...)
		}
		return a.writeJSON(map[string]any{"study": s.Info.Name, "files": files})
	})
	c.Flags().StringVarP(&dir, "output", "o", "", "folder for the pictures (.svg and .pdf), each with its numbers (.csv)")
	c.Example = "  lathe search plot --storage run.log -o pictures"
	return c
}

// writePictures writes a picture with its numbers into a folder, and says so.
func (a *App) writePictures(dir string, p *picture.Picture) ([]string, error) {
	files, err := writeDrawn(filepath.Join(dir, p.Name), p.SVG, choose.CSV(p.Table))
	for _, path := range files {
		fmt.Fprintf(a.Out, "wrote %s\n", path)
	}
	return files, err
}

func (a *App) searchHTML() *cobra.Command {
	var page string
	c := a.watch("html", "write a study on one page", func(ctx context.Context, s *search.Study) error {
		if page == "" {
			return usagef("lathe search html needs -o")
		}
		list, err := pictures(ctx, s)
		if err != nil {
			return err
		}
		best, err := s.Best(ctx)
		if err != nil {
			return err
		}
		trials, err := show(ctx, s, best)
		if err != nil {
			return err
		}
		h, err := s.History(ctx)
		if err != nil {
			return err
		}
		facts := []string{fmt.Sprintf("%s: %s", diag.Amount(h.Len(), "trial"), h)}
		title := "Study " + s.Info.Name
		if err := a.writePage(page, picture.Page(title, Version, facts, list, trialTable(s.Info, trials))); err != nil {
			return err
		}
		return a.writeJSON(map[string]any{"study": s.Info.Name, "page": page})
	})
	c.Flags().StringVarP(&page, "output", "o", "", "the page (.html), which needs no other file")
	c.Example = "  lathe search html --storage run.log -o study.html"
	return c
}
