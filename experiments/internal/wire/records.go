package wire

import (
	"bytes"
	"fmt"
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

// Handshake messages (RFC 8446, B.3).
const (
	handshakeServerHello    = 2
	handshakeEndOfEarlyData = 5
	handshakeFinished       = 20
	handshakeKeyUpdate      = 24
)

// Names of messages that decide how what follows is read.
const (
	serverHelloName    = "serverhello"
	retryName          = "helloretryrequest"
	endOfEarlyDataName = "endofearlydata"
	finishedName       = "finished"
	keyUpdateName      = "keyupdate"
)

// messageNames are the names of handshake messages in records (RFC 8446, B.3;
// RFC 5246, A.4; RFC 5077, 3.3; RFC 6066, 8; RFC 8879, 4).
var messageNames = map[uint8]string{
	0:                       "hellorequest",
	handshakeClientHello:    "clienthello",
	handshakeServerHello:    serverHelloName,
	4:                       "newsessionticket",
	handshakeEndOfEarlyData: endOfEarlyDataName,
	8:                       "encryptedextensions",
	11:                      "certificate",
	12:                      "serverkeyexchange",
	13:                      "certificaterequest",
	14:                      "serverhellodone",
	15:                      "certificateverify",
	16:                      "clientkeyexchange",
	handshakeFinished:       finishedName,
	22:                      "certificatestatus",
	handshakeKeyUpdate:      keyUpdateName,
	25:                      "compressedcertificate",
}

// Names of what is no handshake message.
const (
	changeCipherSpecName = "changecipherspec"
	alertName            = "alert"
	dataName             = "data"
	earlyDataName        = "earlydata"
	// RequestName and ResponseName are what NameExchange calls data.
	RequestName  = "request"
	ResponseName = "response"
)

// A Record is one TLS record, and what is inside.
type Record struct {
	FromClient bool
	Type       uint8         // content type that a listener sees
	Version    uint16        // legacy_record_version
	Length     int           // bytes behind the header
	Time       time.Duration // from Watch to its last byte
	// Inner is the content type inside: not Type where TLS 1.3 encrypts (RFC
	// 8446, 5.2).
	Inner uint8
	// Content is the number of bytes inside, without what encryption adds; -1
	// where the record was not decrypted: in TLS 1.2 behind ChangeCipherSpec,
	// in TLS 1.3 behind the first 64 KiB of application data, all of which
	// is taken for data.
	Content int
	// Encrypted: a listener sees only the length.
	Encrypted bool
	// Messages are the messages, or parts of them, in their order. Their bytes
	// add up to Content, or to Length where the record was not decrypted.
	Messages []Message
}

// A Message is what a record has of a handshake message, or its other content.
type Message struct {
	// Name is that of RFC 8446 in lower case without separators
	// ("clienthello"); "changecipherspec", "alert", "data" or "earlydata" for
	// content that is no handshake.
	Name      string
	Bytes     int  // of it in this record, the message's own header included
	Continued bool // an earlier record had its beginning
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

// Records reads the records so far, in the order of their last bytes. It is an
// error, beside the records before, if they are not those of a connection of TLS
// 1.2 or 1.3, if KeyLog lacks the secrets of TLS 1.3 or they don't decrypt, or
// if there are more than 4096. A record that has not ended is none.
func (w *Watcher) Records() ([]Record, error) {
	w.mu.Lock()
	cut := slices.Clone(w.cut) // their payloads do not change
	log := bytes.Clone(w.keys.Bytes())
	more := w.more
	w.mu.Unlock()
	records, err := read(cut, log)
	if err == nil && more {
		err = fmt.Errorf("read records: more than the %d that are kept have crossed the connection", keptRecords)
	}
	return records, err
}
