package wire

import (
	"crypto/tls"
	"errors"

	"golang.org/x/crypto/cryptobyte"
)

// RecordHeaderBytes is the size of a TLS record's header (RFC 8446, 5.1).
const RecordHeaderBytes = 5

// A ClientHello is what a client offers, as far as the study needs it.
type ClientHello struct {
	// RecordBytes is the size of the record that carries it, header included.
	RecordBytes int
	// Groups is the extension supported_groups (RFC 8446, 4.2.7), in order.
	Groups []tls.CurveID
	// KeyShares are the sizes of key_exchange in the extension key_share
	// (RFC 8446, 4.2.8), in order.
	KeyShares []KeyShare
}

// A KeyShare is one entry of the extension key_share.
type KeyShare struct {
	Group tls.CurveID
	Bytes int
}

// Codes of RFC 8446, 4, 4.2 and 5.1.
const (
	recordHandshake          = 22
	handshakeClientHello     = 1
	extensionSupportedGroups = 10
	extensionKeyShare        = 51
)

var errClientHello = errors.New("not a record with one whole ClientHello")

// ParseClientHello reads the first record of a client. It must hold the
// whole message.
func ParseClientHello(record []byte) (ClientHello, error) {
	var hello ClientHello
	s := cryptobyte.String(record)
	var recordType, messageType uint8
	var version uint16
	var fragment, body cryptobyte.String
	if !s.ReadUint8(&recordType) || recordType != recordHandshake ||
		!s.ReadUint16(&version) || !s.ReadUint16LengthPrefixed(&fragment) ||
		!fragment.ReadUint8(&messageType) || messageType != handshakeClientHello ||
		!fragment.ReadUint24LengthPrefixed(&body) {
		return hello, errClientHello
	}
	hello.RecordBytes = len(record) - len(s)
	var sessionID, suites, compressions, extensions cryptobyte.String
	if !body.Skip(2+32) || // legacy_version, random
		!body.ReadUint8LengthPrefixed(&sessionID) || !body.ReadUint16LengthPrefixed(&suites) ||
		!body.ReadUint8LengthPrefixed(&compressions) || !body.ReadUint16LengthPrefixed(&extensions) {
		return hello, errClientHello
	}
	for !extensions.Empty() {
		var extension uint16
		var content cryptobyte.String
		if !extensions.ReadUint16(&extension) || !extensions.ReadUint16LengthPrefixed(&content) ||
			!hello.readExtension(extension, content) {
			return hello, errClientHello
		}
	}
	return hello, nil
}

// readExtension reads the extensions of interest into h.
func (h *ClientHello) readExtension(extension uint16, content cryptobyte.String) bool {
	var list cryptobyte.String
	switch extension {
	case extensionSupportedGroups:
		if !content.ReadUint16LengthPrefixed(&list) {
			return false
		}
		for !list.Empty() {
			var group uint16
			if !list.ReadUint16(&group) {
				return false
			}
			h.Groups = append(h.Groups, tls.CurveID(group))
		}
	case extensionKeyShare:
		if !content.ReadUint16LengthPrefixed(&list) {
			return false
		}
		for !list.Empty() {
			var group uint16
			var exchange cryptobyte.String
			if !list.ReadUint16(&group) || !list.ReadUint16LengthPrefixed(&exchange) {
				return false
			}
			h.KeyShares = append(h.KeyShares, KeyShare{tls.CurveID(group), len(exchange)})
		}
	}
	return true
}
