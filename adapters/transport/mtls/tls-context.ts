// TLS options of both ends: version 1.3 only, and no resumption, so that each connection presents its certificates.
import { constants } from 'node:crypto'
import type { SecureContextOptions } from 'node:tls'
import type { MtlsMaterial } from './material.ts'

/** OpenSSL's SSL_OP_DISABLE_TLSEXT_CA_NAMES, which Node has no name for: unknown clients do not learn which authorities are pinned. */
const without_authority_names = 1 << 9

/** `peer`: the peer to connect to; all of them when absent. */
export function secureContextOptions(
  { cert, key, passphrase, pins }: MtlsMaterial,
  peer?: string,
): SecureContextOptions {
  const pinned = [...pins].filter(([name]) => peer === undefined || name === peer)
  return {
    cert,
    key,
    ...(passphrase === undefined ? {} : { passphrase }),
    ca: pinned.flatMap(([, { authorities }]) => authorities.map(String)),
    // An authority below another may be the one that is pinned.
    allowPartialTrustChain: true,
    minVersion: 'TLSv1.3',
    secureOptions: constants.SSL_OP_NO_TICKET | without_authority_names,
  }
}
