// Limits the TLS of this process to the algorithms of the site's policy; connections that name no algorithms of their own follow it.
import tls from 'node:tls'
import type { CryptographyPolicy } from '../../kernel/settings/cryptography-settings.ts'

/** Cipher suites of SP 800-52 with forward secrecy, and curves of SP 800-186 that TLS negotiates; no ChaCha20, no X25519. */
const fips = {
  ciphers: [
    'TLS_AES_256_GCM_SHA384',
    'TLS_AES_128_GCM_SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
  ].join(':'),
  curves: 'P-384:P-256:P-521',
}

/** Call it before anything listens or connects. */
export function applyCryptographyPolicy(policy: CryptographyPolicy): void {
  if (policy === 'any') return
  tls.DEFAULT_CIPHERS = fips.ciphers
  tls.DEFAULT_ECDH_CURVE = fips.curves
}
