package trial

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"cryptocost/data"
	"cryptocost/experiments/internal/host"
)

// A UsageError is a wrong command line; the program ends with status 2.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *UsageError) Unwrap() error { return e.Err }

func usagef(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// settings are what the command line decides.
type settings struct {
	machine string
	profile Profile
	rounds  int
	cases   string
	seed    uint64
	list    bool
	fresh   bool
	server  string
	dir     string
}

// parse reads the flags that every experiment has.
func parse(e Experiment, args []string, stderr io.Writer) (settings, error) {
	var s settings
	var profile string
	flags := flag.NewFlagSet(e.Name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&s.machine, "machine", "local", "`name` of this machine: the samples go to data/NAME/"+e.Name+".txt")
	flags.StringVar(&profile, "profile", string(Standard), "quick (6 rounds), standard (12) or thorough (40)")
	flags.IntVar(&s.rounds, "rounds", 0, "number of rounds; 0: the profile's")
	flags.StringVar(&s.cases, "cases", "", "measure only the cases that match this `regexp`, and what they need")
	flags.Uint64Var(&s.seed, "seed", 1, "seed of the order of slices")
	flags.BoolVar(&s.list, "list", false, "list the cases and exit")
	flags.BoolVar(&s.fresh, "fresh", false, "measure anew even if samples are there; they are replaced when the run ends")
	flags.StringVar(&s.server, "server", "", "run the server role on another machine: `ssh://[user@]host[:port]`")
	flags.StringVar(&s.dir, "data", "data", "`folder` of the machines' samples")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return s, err
		}
		return s, &UsageError{err}
	}
	s.profile = Profile(profile)
	if flags.NArg() > 0 {
		return s, usagef("unexpected argument %q: settings are given as flags (see -help)", flags.Arg(0))
	}
	if err := data.CheckMachine(s.machine); err != nil {
		return s, &UsageError{err}
	}
	if _, ok := profileRounds[s.profile]; !ok {
		return s, usagef("no profile %q: choose quick, standard or thorough", profile)
	}
	if s.rounds == 0 {
		s.rounds = profileRounds[s.profile]
	}
	if s.rounds < 1 {
		return s, usagef("%d rounds: at least 1 (and 6 for intervals)", s.rounds)
	}
	if s.server != "" {
		if len(e.RemoteRoles) == 0 {
			return s, usagef("%s has no server that could run on another machine", e.Name)
		}
		if err := host.CheckRemote(s.server); err != nil {
			return s, &UsageError{err}
		}
	}
	return s, nil
}

// path is the file that the run writes.
func (s settings) path(e Experiment) string {
	return filepath.Join(s.dir, s.machine, e.Name+".txt")
}

// replaces says whether the run replaces a finished file; it is an error if
// it would without -fresh. A file that is already beside its own partial one
// was to be replaced by the run that left that, and is by the one that goes on.
func (s settings) replaces(e Experiment) (bool, error) {
	finished, err := exists(s.path(e))
	if err != nil || !finished || s.fresh {
		return finished, err
	}
	interrupted, err := exists(s.path(e) + data.PartialSuffix)
	if err == nil && !interrupted {
		err = fmt.Errorf("%s is there already; -fresh measures anew and replaces it when the run ends (make: FRESH=1)", s.path(e))
	}
	return true, err
}

func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// choose gives the cases that the pattern of the settings matches, and those
// that they need.
func (s settings) choose(all []Case) ([]Case, error) {
	pattern, err := regexp.Compile(s.cases)
	if err != nil {
		return nil, usagef("case pattern %q: %v", s.cases, err)
	}
	var names []string
	matched, wanted := false, map[string]bool{}
	for _, c := range all {
		names = append(names, c.Name)
		if c.First && !c.Whole {
			return nil, fmt.Errorf("case %s is to come first and is not whole", c.Name)
		}
		if pattern.MatchString(c.Name) {
			matched, wanted[c.Name] = true, true
			for _, needed := range c.Needs {
				wanted[needed] = true
			}
		}
	}
	if !matched {
		return nil, usagef("no case matches %q; the cases are\n  %s", s.cases, strings.Join(names, "\n  "))
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("case %s is needed by another, and there is no such case", name)
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(c Case) bool { return !wanted[c.Name] }), nil
}
