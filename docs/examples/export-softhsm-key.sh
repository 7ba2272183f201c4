#!/bin/sh
# Prints the public half of a P-384 key of a PKCS#11 token as PEM: export-softhsm-key.sh MODULE TOKEN LABEL
# (`pkcs11-tool --read-object` of OpenSC 0.23 fails for such keys: "cannot create EVP_PKEY".)
set -eu
point=$(pkcs11-tool --module "$1" --token-label "$2" --list-objects --type pubkey --label "$3" | sed -n 's/^ *EC_POINT: *0461//p')
# SubjectPublicKeyInfo of P-384 (RFC 5480) up to the point.
printf '%s%s' 3076301006072A8648CE3D020106052B81040022036200 "$point" | tr 'a-f' 'A-F' | basenc --base16 -d |
  openssl pkey -pubin -inform DER
