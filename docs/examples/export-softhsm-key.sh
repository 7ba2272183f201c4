#!/bin/sh
# Prints the public half of a P-384 key of a PKCS#11 token as PEM: export-softhsm-key.sh MODULE TOKEN ID
# OpenSC 0.23 fails to read such a key ("cannot create EVP_PKEY") and lists every key of the token, whatever id it gets.
set -eu
point=$(pkcs11-tool --module "$1" --token-label "$2" --list-objects --type pubkey |
  awk -v id="$3" '$1 == "EC_POINT:" { point = $2 } $1 == "ID:" && $2 == id { sub(/^0461/, "", point); print point }')
# SubjectPublicKeyInfo of P-384 (RFC 5480) up to the point.
printf '%s%s' 3076301006072A8648CE3D020106052B81040022036200 "$point" | tr 'a-f' 'A-F' | basenc --base16 -d |
  openssl pkey -pubin -inform DER
