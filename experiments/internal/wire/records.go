package wire

import (
	"bytes"
	"slices"
	"strings"
	"time"
)

// Content types of records (RFC 8446, B.1).
const (
	recordChangeCipherSpec = 20
	recordAlert            = 21
	recordApplicationData  = 23
)

// Handshake messages (RFC 8446, B.3, and RFC 5246, A.4).
const (
	handshakeServerHello    = 2
	handshakeEndOfEarlyData = 5
	handshakeFinished       = 20
	handshakeKeyUpdate      = 24
)

// messageNames are the names of handshake messages in records.
var messageNames = map[uint8]string{
	0: "hellorequest", handshakeClientHello: "clienthello", handshakeServerHello: "serverhello", 4: "newsessionticket",
	handshakeEndOfEarlyData: "endofearlydata", 8: "encryptedextensions", 11: "certificate", 12: "serverkeyexchange",
	13: "certificaterequest", 14: "serverhellodone", 15: "certificateverify", 16: "clientkeyexchange",
	handshakeFinished: "finished", 22: "certificatestatus", handshakeKeyUpdate: "keyupdate",
}

// A Record is one TLS record, and what is inside.
type Record struct {
	FromClient bool
	Type       uint8         // content type that a listener sees
	Version    uint16        // legacy_record_version
	Length     int           // bytes behind the header
	Time       time.Duration // from Watch to its last byte
	// Inner is the content type behind the encryption; Type where there is
	// none or, in TLS 1.2, none that changes it.
	Inner uint8
	// Content is the number of bytes inside, without what encryption adds; -1
	// where the record was not decrypted.
	Content int
	// Encrypted: a listener sees only the length.
	Encrypted bool
	Messages  []Message
}

// A Message is what a record has of a handshake message, or its other content.
type Message struct {
	// Name is that of RFC 8446 in lower case without separators
	// ("clienthello"); "changecipherspec", "alert", "data" or "earlydata" for
	// content that is no handshake.
	Name      string
	Bytes     int  // of it in this record, the message's own header included
	Continued bool // the record before this one had its beginning
}

// Name joins the names of what is inside by "+". What only continues is called
// "certificate-continued".
func (r Record) Name() string {
	var names []string
	for _, m := range r.Messages {
		name := m.Name
		if m.Continued {
			name += "-continued"
		}
		names = append(names, name)
	}
	return strings.Join(names, "+")
}

// Records reads the records so far, in order of their ends. It is an error
// if they are not those of a TLS 1.2 or 1.3 connection whose secrets KeyLog has.
func (w *Watcher) Records() ([]Record, error) {
	w.mu.Lock()
	cut := slices.Clone(w.cut)
	log := bytes.Clone(w.keys.Bytes())
	w.mu.Unlock()
	return read(cut, log)
}
