package store

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// The maximum time that a process waits for a lock of another process, and the maximum time that it waits for its
// turn. The second time is part of the first.
const (
	patience = 10 * time.Second
	queueing = time.Second
)

// lock takes the lock of the folder for this process and goroutine. The kernel gives a file's lock to any process
// that requests it. A process that appends batch after batch would request it again before a waiting process tries.
// So lock first takes the lock of the folder itself, as its turn, and releases it when it has the lock of the file.
// So a waiting process gets the lock next. A process that is suspended while it waits keeps its turn. The others
// continue without turns until it releases the lock.
func (j *Journal) lock() (unlock func(), err error) {
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return nil, errJournalClosed
	}
	begun, turn := time.Now(), false
	for wait := time.Millisecond; ; wait = min(2*wait, 20*time.Millisecond) {
		if err = j.reach(); err != nil {
			break
		}
		if !turn {
			// Some file systems don't support locks of folders. Then the kernel decides about the order.
			turn, err = tryLock(j.folder)
			turn = turn || err != nil
		}
		ok := false
		j.unordered = !turn && (j.unordered || time.Since(begun) > queueing)
		if turn || j.unordered {
			if ok, err = tryLock(j.lockFile); err != nil {
				break
			}
		}
		if ok && same(j.lockFile, j.lockFile.Name()) {
			unlockFile(j.folder)
			if err = j.claim(); err != nil {
				unlockFile(j.lockFile)
				break
			}
			return func() { unlockFile(j.lockFile); j.mu.Unlock() }, nil
		}
		if ok { // a process that closed the journal has removed it
			j.forget()
			turn = false
			continue
		}
		if time.Since(begun) > patience {
			err = ErrLocked
			break
		}
		if turn {
			wait = time.Millisecond // no other process tries meanwhile
		}
		time.Sleep(wait)
	}
	if j.folder != nil {
		unlockFile(j.folder)
	}
	j.mu.Unlock()
	return nil, err
}

// reach opens the files that lock uses, unless they are open.
func (j *Journal) reach() (err error) {
	if j.lockFile != nil {
		return nil
	}
	j.lockFile, j.folder, err = openLock(j.dir)
	return err
}

// forget closes the files that lock uses.
func (j *Journal) forget() {
	if j.lockFile != nil {
		_ = errors.Join(j.lockFile.Close(), j.folder.Close()) // none of them has buffered data
		j.lockFile, j.folder, j.claimed = nil, nil, false
	}
}

// idFile is the file with the folder's name in the store.
const idFile = "id"

// claim makes the store record the folder by its name, unless this process has already done so. If the folder has no
// name yet, claim creates one. The caller holds the lock.
func (j *Journal) claim() error {
	if j.claimed || j.options.Claim == nil {
		return nil
	}
	path := filepath.Join(j.dir, idFile)
	id, err := os.ReadFile(path)
	named := err == nil && len(id) == idLength
	if errors.Is(err, fs.ErrNotExist) || err == nil && !named { // the file doesn't exist, or was not written completely
		id = []byte(rand.Text())[:idLength]
		err = writeAndSync(path, id)
	}
	if err != nil {
		return err
	}
	if err := syncDir(j.dir); err != nil {
		return err
	}
	names, err := j.segments()
	if err != nil {
		return err
	}
	if err := j.options.Claim(string(id), named && len(names) > 0); errors.Is(err, ErrForeign) {
		return fmt.Errorf("%s: %w", j.dir, err)
	} else if err != nil {
		return err
	}
	j.claimed = true
	return nil
}

// idLength is the number of characters of a folder's name.
const idLength = 16

// writeAndSync writes a file and returns after it is on the disk.
func writeAndSync(path string, data []byte) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err = f.Write(data); err != nil {
		return err
	}
	return f.Sync()
}
