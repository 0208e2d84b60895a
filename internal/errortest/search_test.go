// SPDX-License-Identifier: Apache-2.0

package errortest

import (
	"database/sql"
	"path/filepath"
	"testing"

	"lathe/internal/diag"
	"lathe/search/storage/rdb"
)

// searchFaults are those of studies.
var searchFaults = map[diag.Code]func(t *testing.T) error{
	"L1109": func(t *testing.T) error {
		path := filepath.Join(t.TempDir(), "newer.db")
		s, err := rdb.Open(t.Context(), path, true)
		if err != nil {
			return err
		}
		if err := s.Close(); err != nil {
			return err
		}
		db, err := sql.Open("sqlite", path)
		if err != nil {
			return err
		}
		defer db.Close()
		if _, err := db.Exec(`UPDATE version_info SET schema_version = 13`); err != nil {
			return err
		}
		_, err = rdb.Open(t.Context(), path, false)
		return err
	},
}
