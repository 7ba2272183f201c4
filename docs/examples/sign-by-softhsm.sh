#!/bin/sh
# A signing command for `platform keys connect`: signs with a P-384 key of a PKCS#11 token by pkcs11-tool of OpenSC.
# Copy it, change the lines below, and give it mode 700. It serves one request, or with RESIDENT=yes one after the other.
set -eu
MODULE=/usr/lib/softhsm/libsofthsm2.so
TOKEN=platform
ID=01
PIN_FILE=/etc/platform/pin
RESIDENT=no
export SOFTHSM2_CONF=/etc/softhsm/softhsm2.conf

umask 077
PIN=$(cat "$PIN_FILE")
export PIN
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# One request is one line of JSON; its values need no escapes: {"v":1,"kid":…,"algorithm":"ES384","input":"<base64url>"}
while IFS= read -r request; do
  case $request in *'"algorithm":"ES384"'*) ;; *) exit 65 ;; esac
  input=$(printf '%s' "$request" | sed 's/.*"input":"\([A-Za-z0-9_-]*\)".*/\1/')
  # base64url has other characters than base64, and no padding.
  case $((${#input} % 4)) in 2) padding='==' ;; 3) padding='=' ;; *) padding='' ;; esac
  printf '%s%s' "$input" "$padding" | tr '_-' '/+' | base64 -d >"$work/input"
  openssl dgst -sha384 -binary -out "$work/digest" "$work/input"
  # The PIN comes from the environment: an argument is visible to other users.
  pkcs11-tool --module "$MODULE" --token-label "$TOKEN" --id "$ID" --login --pin env:PIN --sign \
    --mechanism ECDSA --signature-format rs --input-file "$work/digest" --output-file "$work/signature" >/dev/null
  signature=$(base64 -w 0 "$work/signature" | tr '/+' '_-' | tr -d '=')
  printf '{"signature":"%s"}\n' "$signature"
  [ "$RESIDENT" = yes ] || exit 0
done
