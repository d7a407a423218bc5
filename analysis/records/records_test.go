package main

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cryptocost/analysis/internal/recording"
	"cryptocost/analysis/internal/samples"
	"cryptocost/data"
)

// published is what the articles claim.
var published = filepath.Join("..", "claims", "claims.csv")

var keep = flag.String("keep", "", "`folder` to keep the figures and tables of the simulated run in, to look at them")

// A simulated record: sender and messages as in names of cases, length, type.
type simulated struct {
	name           string
	length, number float64
}

// simulatedKinds have records of round lengths.
var simulatedKinds = map[string][]simulated{
	full13: {{"client-clienthello", 1500, 22}, {"server-serverhello", 1200, 22}, {"server-changecipherspec", 1, 20},
		{"server-encryptedextensions+certificate", 440, 23}, {"client-finished", 53, 23}, {"client-request", 35, 23}, {"server-response", 74, 23}},
	full12: {{"client-clienthello", 1500, 22}, {"server-serverhello", 67, 22}, {"server-certificate", 400, 22}, {"server-certificate-continued", 20, 22},
		{"client-changecipherspec", 1, 20}, {"client-finished", 40, 22}, {"server-changecipherspec", 1, 20}, {"server-finished", 40, 22}},
}

// run simulates a run of both; watching costs 26 ns a record.
func run() recording.Run {
	return recording.Run{Experiment: "records", Machine: "xeon", Rounds: 12, Seed: 1, Round: func(rng *rand.Rand) []data.Sample {
		var list []data.Sample
		for _, of := range slices.Sorted(maps.Keys(simulatedKinds)) {
			list = append(list, recording.Window(of, data.Value{Value: 8e5 + 1e4*rng.NormFloat64(), Unit: "p50-latency-ns/op"}))
			totals := map[string]float64{}
			for i, r := range simulatedKinds[of] {
				name := fmt.Sprintf("%s/record=%02d-%s", of, i+1, r.name)
				version := 0x0303
				if i == 0 {
					version = 0x0301
				}
				list = append(list, recording.Window(name, data.Value{Value: float64(1e5 * (i + 1)), Unit: "p50-since-connect-ns/op"}))
				list = append(list, recording.Exact(name, data.Value{Value: r.length, Unit: recordBytes},
					data.Value{Value: r.number, Unit: recordType}, data.Value{Value: float64(version), Unit: recordVersion}))
				totals[r.name[:6]] += r.length + headerBytes
				totals[r.name[:6]+"s"]++
			}
			list = append(list, recording.Exact(of,
				data.Value{Value: totals["client"], Unit: sent}, data.Value{Value: totals["server"], Unit: received},
				data.Value{Value: totals["clients"], Unit: sentRecords}, data.Value{Value: totals["servers"], Unit: receivedRecords},
				data.Value{Value: totals["clients"] + totals["servers"], Unit: bothRecords},
				data.Value{Value: 4, Unit: flights}, data.Value{Value: 1, Unit: beforeRequest}, data.Value{Value: 3, Unit: waits}))
		}
		for name, ns := range map[string]float64{unwatched: 16000, watched: 16026, replays[0].base: 80, replays[0].name: 480, replays[1].name: 9080, replays[2].base: 800, replays[2].name: 832} {
			list = append(list, recording.Window(name, data.Value{Value: ns, Unit: "cpu-ns/record"}))
		}
		for i, c := range checks {
			list = append(list, recording.Exact(c.Case, data.Value{Value: float64(min(1, len(checks)-1-i)), Unit: data.YesUnit}))
		}
		slices.SortStableFunc(list, func(a, b data.Sample) int { return strings.Compare(a.Case, b.Case) })
		return list
	}}
}

// TestFiles draws all figures and tables; with -keep they stay.
func TestFiles(t *testing.T) {
	recording.Analyze(t, analysis(), published, *keep, []recording.Run{run()}, map[string][]string{
		"records-records.md": {
			"| 1. client: ClientHello | Handshake (22) | 0301 | 1,500 B | 1,474 B | reproduced | 100 µs | 400 µs | shifted |",
			"| 4. server: EncryptedExtensions + Certificate | ApplicationData (23) | 0303 | 440 B |",
		},
		"records-totals.md": {"| TLS 1.3, full, hybrids offered | 3 + 4 | 12 records | shifted | 4 | 1 | 3 | 1,603 B | 1,583 B | reproduced | 1,735 B | 2,075 B | shifted |",
			"| TLS 1.2, ticket, no hybrids | not measured + not measured |"},
		"records-certificates.md": {"| ECDSA P-256, self-signed, TLS 1.2 | 400 B, 20 B |"},
		"records-watching.md":     {"| watched over not watched | 1.00× |"},
		"records-replay.md":       {"decrypted and named as well | 80.0 ns/record | 9.08 µs/record | +9.00 µs/record |", "cut and counted | 800 ns/record | 832 ns/record | +32.0 ns/record |"},
		"records-checks.md":       {"no, in none of 12 rounds", "yes, in all 12 rounds"},
		"records-ladder.svg": {"Of a TLS 1.3 handshake a listener reads the hellos", "4. server: ApplicationData (23), 440 B: EncryptedExtensions + Certificate, encrypted",
			"8. server: Handshake (22), 40 B: Finished, encrypted", "4. server: Handshake (22), 20 B: Certificate, continued\n", "not among the cases of this run"},
		"records-bytes.svg": {"the two hellos are 80.9 %"},
		"records.values":    {"/verdict=first-record-is-0301", "share-of-watching"},
	})
}

// TestMissing sees to it that an analysis of a run without the connections
// says so.
func TestMissing(t *testing.T) {
	r := run()
	whole := r.Round
	r.Missing = []data.Missing{{Case: full13, Reason: "no loopback"}}
	r.Round = func(rng *rand.Rand) []data.Sample {
		return slices.DeleteFunc(whole(rng), func(s data.Sample) bool { return strings.HasPrefix(s.Case, full13) })
	}
	why := []string{"no loopback"}
	recording.Analyze(t, analysis(), published, "", []recording.Run{r}, map[string][]string{
		"records-ladder.svg": why, "records-bytes.svg": why, "records-records.md": why, "records-totals.md": why,
	})
}

// TestRecordsOf sees to it that only the records of a case itself are its.
func TestRecordsOf(t *testing.T) {
	m := samples.New(run().File())
	list := recordsOf(m, full12)
	if len(list) != len(simulatedKinds[full12]) {
		t.Fatalf("%d records, want %d", len(list), len(simulatedKinds[full12]))
	}
	if r := list[3]; r.number != 4 || r.fromClient || r.sender() != "server" || r.title() != "Certificate, continued" {
		t.Errorf("%+v", r)
	}
	if list := recordsOf(m, "/tls=1.2"); list != nil {
		t.Errorf("a part of a name has the records %v", list)
	}
}
