package chart

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func init() {
	fixtures["ladder"] = ladderFixture()
	fixtures["ladder-one"] = Ladder{
		Head: Head{Experiment: "fixture", Title: "A record may hold several messages", Subtitle: "xeon-2cpu, 12 rounds."},
		Rows: [][]Connection{{{Name: "several messages in a record", Records: []Record{
			{FromClient: true, Outer: "Handshake (22)", Low: 210, High: 210, Inner: "ClientHello"},
			{Outer: "Handshake (22)", Low: 3010, High: 3012, Inner: "ServerHello + Certificate + ServerKeyExchange + CertificateRequest + ServerHelloDone"},
		}}}},
	}
}

// ladderFixture is a chart of made-up connections.
func ladderFixture() Ladder {
	hello := Record{FromClient: true, Outer: "Handshake (22)", Low: 1506, High: 1506, Inner: "ClientHello"}
	sealed := func(fromClient bool, low, high float64, inner string) Record {
		return Record{fromClient, "ApplicationData (23)", low, high, inner, true}
	}
	change := func(fromClient bool) Record {
		return Record{FromClient: fromClient, Outer: "ChangeCipherSpec (20)", Low: 1, High: 1, Inner: "ChangeCipherSpec"}
	}
	return Ladder{
		Head: Head{Experiment: "fixture", Title: "A listener sees type 23 and lengths, whatever is inside",
			Subtitle: "Go's default client over loopback. xeon-2cpu, 12 rounds; lengths without the header."},
		Rows: [][]Connection{
			{
				{Name: "TLS 1.3, full", Note: "12 records; the client sends 1,615 B, the server 2,078 B; one round trip before the request",
					Records: []Record{hello, {Outer: "Handshake (22)", Low: 1210, High: 1210, Inner: "ServerHello"}, change(false),
						sealed(false, 27, 27, "EncryptedExtensions"), sealed(false, 438, 438, "Certificate"), sealed(false, 95, 97, "CertificateVerify"),
						sealed(false, 53, 53, "Finished"), change(true), sealed(true, 53, 53, "Finished"), sealed(true, 35, 35, "request"),
						sealed(false, 74, 74, "response")}},
				{Name: "TLS 1.2, ticket", Records: []Record{hello, {Outer: "Handshake (22)", Low: 67, High: 67, Inner: "ServerHello"},
					change(false), {Outer: "Handshake (22)", Low: 40, High: 40, Inner: "Finished", Encrypted: true}}},
			},
			{{Name: "TLS 1.3, HelloRetryRequest", Missing: "this build of Go can't be made to cause one, for a reason that takes more than a line to say"}},
		},
	}
}

// randomLadder has connections of random records.
func randomLadder(seed uint64) Ladder {
	random := rand.New(rand.NewPCG(seed, 5))
	messages := []string{"ClientHello", "EncryptedExtensions", "Certificate", "Certificate, continued", "ServerKeyExchange + ServerHelloDone"}
	l := Ladder{Head: Head{Experiment: "fixture", Title: "Random records of a random number of connections"}}
	for i := range 1 + random.IntN(3) {
		var row []Connection
		for j := range 1 + random.IntN(2) {
			c := Connection{Name: fmt.Sprintf("connection %d.%d", i+1, j+1), Note: strings.Repeat("a note ", random.IntN(20))}
			for range 1 + random.IntN(12) {
				low := float64(random.IntN(1 << random.IntN(15)))
				c.Records = append(c.Records, Record{FromClient: random.IntN(2) == 0, Outer: "ApplicationData (23)", Low: low,
					High: low + float64(random.IntN(3)), Inner: messages[random.IntN(len(messages))], Encrypted: random.IntN(2) == 0})
			}
			row = append(row, c)
		}
		l.Rows = append(l.Rows, row)
	}
	return l
}

func TestLadderTextsApart(t *testing.T) {
	for seed := range uint64(25) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { checkTexts(t, randomLadder(seed)) })
	}
}

// TestLadderTextsInside sees to it that the text of a box stays on its ground.
func TestLadderTextsInside(t *testing.T) {
	stacked := false
	for seed := range uint64(25) {
		p := randomLadder(seed).layout()
		stacked = stacked || p.stacked
		for _, l := range p.ladders {
			for _, f := range l.flights {
				for _, b := range f.boxes {
					if room := valueText.widest(b.inner); room > p.inner() {
						t.Errorf("seed %d: %q is %v wide, with room for %v", seed, b.inner, room, p.inner())
					}
					room := valueText.width(b.Outer) + valueText.width(b.length()) + 2*boxPadding
					if p.stacked {
						room = valueText.widest([]string{b.Outer, b.length()}) + 2*boxPadding
					}
					if room > p.outer {
						t.Errorf("seed %d: type and length are %v wide, with room for %v", seed, room, p.outer)
					}
				}
			}
		}
	}
	if !stacked {
		t.Error("no chart had lengths below types")
	}
}

func TestFlights(t *testing.T) {
	for _, test := range []struct {
		directions string // c: from the client
		want       []int
	}{
		{"c", []int{1}},
		{"cssccs", []int{1, 2, 2, 1}},
		{"sssc", []int{3, 1}},
	} {
		var c Connection
		for _, d := range test.directions {
			c.Records = append(c.Records, Record{FromClient: d == 'c'})
		}
		var got []int
		for _, f := range c.flights() {
			got = append(got, len(f))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: flights of %v records, want %v", test.directions, got, test.want)
		}
	}
}

// TestLadderOrder tests that boxes are below each other in the order of records,
// touch within a flight, and that flights are apart.
func TestLadderOrder(t *testing.T) {
	l := ladderFixture().layout().ladders[0]
	if len(l.flights) != 4 {
		t.Fatalf("%d flights", len(l.flights))
	}
	var shown []string
	for i, f := range l.flights {
		if i > 0 && f.top-l.flights[i-1].bottom != flightGap {
			t.Errorf("flight %d begins %v below the one before", i+1, f.top-l.flights[i-1].bottom)
		}
		for j, b := range f.boxes {
			if j > 0 && b.top-f.boxes[j-1].bottom != boxGap {
				t.Errorf("%s begins %v below the box before", b.Inner, b.top-f.boxes[j-1].bottom)
			}
			shown = append(shown, b.Inner)
		}
	}
	for i, r := range l.Records {
		if i >= len(shown) || shown[i] != r.Inner {
			t.Fatalf("shown are %q, record %d is %q", shown, i+1, r.Inner)
		}
	}
}

func TestLadderSays(t *testing.T) {
	svg := string(draw(t, ladderFixture()))
	for _, want := range []string{">95–97 B<", "5. server: ApplicationData (23), 438 B: Certificate, encrypted\n",
		"2. server: Handshake (22), 1,210 B: ServerHello\n", "inside, encrypted", "not measured: this build of Go"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the figure lacks %q", want)
		}
	}
}

func TestLadderRefuses(t *testing.T) {
	for _, test := range []struct {
		want  string
		spoil func(*Ladder)
	}{
		{"no title", func(l *Ladder) { l.Title = "" }},
		{"no connections", func(l *Ladder) { l.Rows = [][]Connection{{}} }},
		{`connection "": no name`, func(l *Ladder) { l.Rows[0][0].Name = "" }},
		{"yet with records", func(l *Ladder) { l.Rows[0][0].Missing = "why" }},
		{"neither records nor the reason", func(l *Ladder) { l.Rows[0][0].Records = nil }},
		{"record 1 lacks its type", func(l *Ladder) { l.Rows[0][0].Records[0].Outer = "" }},
		{"record 2 lacks its type or what is inside", func(l *Ladder) { l.Rows[0][0].Records[1].Inner = "" }},
		{"no length is -1 to 1506", func(l *Ladder) { l.Rows[0][0].Records[0].Low = -1 }},
		{"no length is NaN", func(l *Ladder) { l.Rows[0][0].Records[0].Low = nan }},
		{"no length is 1506 to 1505", func(l *Ladder) { l.Rows[0][0].Records[0].High = 1505 }},
		{"to +Inf", func(l *Ladder) { l.Rows[0][0].Records[0].High = math.Inf(1) }},
		{"4 ladders side by side leave no room", func(l *Ladder) { l.Rows[0] = append(l.Rows[0], l.Rows[0]...) }},
	} {
		l := ladderFixture()
		test.spoil(&l)
		if _, err := l.SVG(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want %q", err, test.want)
		}
	}
}
