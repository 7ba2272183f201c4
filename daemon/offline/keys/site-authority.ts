// The authority that signs certificates of sites: a key in the site or on an offline medium, with its certificate.
import { X509Certificate } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { importSigningKey, importVerifyingKey } from '../../../adapters/keys/jose/crypto-keys.ts'
import { readKeyFiles, type StoredKey, writePrivateText } from '../../../adapters/keys/jose/key-files.ts'
import { generateKey, rotateKey } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { createAuthorityCertificate } from '../../../adapters/keys/x509/certificate-issuance.ts'
import { parseCertificates } from '../../../adapters/transport/mtls/material.ts'
import { certificatesFolder, type SiteFolder } from '../../boot/storage/site-folder.ts'
import { recordOperatorAction } from '../audit/operator-action.ts'
import { day_ms } from '../doctor/finding.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import type { EnvironmentVariables } from '../site/site-profile.ts'
import type { KeyLocation } from './site-keys.ts'

export type SiteAuthority = { readonly stored: StoredKey; readonly certificate: X509Certificate }

export type SiteAuthorityOptions = {
  /** Name of the authority, for people. */
  readonly name: string
  readonly days: number
  /** Epoch milliseconds. */
  readonly now: number
  readonly passphrase: string | undefined
  /** Replace the existing authority, which then no longer signs. */
  readonly replace: boolean
}

/** Maximum difference between the clocks of two sites. */
export const clock_skew_ms = 900_000

/** Creates an authority. Throws `OfflineCommandError` (3) if one exists, and `KeyLockedError`. */
export async function makeSiteAuthority(
  location: KeyLocation | SiteFolder,
  env: EnvironmentVariables,
  { name, days, now, passphrase, replace }: SiteAuthorityOptions,
): Promise<SiteAuthority> {
  const existing = listAuthorityKeys(location).at(-1)
  if (existing && !replace && readAuthorityCertificate(location, existing.public_key.kid)) {
    const remedy = '--replace creates a new one; certificates that the old one signed stay valid until they expire'
    throw new OfflineCommandError(3, `the authority ${existing.public_key.kid} already exists`, remedy)
  }
  const not_after = now + days * day_ms
  const terms = { now, not_after: new Date(not_after).toISOString(), passphrase, algorithm: 'ES384' as const }
  // A key without a certificate is left over from an interruption.
  const kid = !existing
    ? (await generateKey(location.keys, { use: 'authority', ...terms })).kid
    : replace
      ? (await rotateKey(location.keys, existing.public_key.kid, terms)).created.kid
      : existing.public_key.kid
  const stored = listAuthorityKeys(location).find(({ public_key }) => public_key.kid === kid)
  const publicKey = stored && (await importVerifyingKey(stored.public_key))
  if (!stored || !publicKey) throw new Error(`the key ${kid} cannot be read back`)
  const keys = { publicKey, privateKey: await importSigningKey(stored, () => passphrase) }
  const validity = { not_before: now - clock_skew_ms, not_after: Date.parse(stored.public_key.not_after ?? '') }
  const pem = await createAuthorityCertificate(`${name} ${kid}`, keys, validity)
  writePrivateText(certificatesFolder(location), `${kid}.pem`, pem)
  const certificate = new X509Certificate(pem)
  if ('profile' in location) {
    const detail = { fingerprint: certificate.fingerprint256, not_after: terms.not_after }
    await recordOperatorAction(location, env, { action: 'site.authority.create', target: kid, detail })
  }
  return { stored, certificate }
}

/** Returns the signing authority. Throws `OfflineCommandError` (1) if there is none. */
export function readSiteAuthority(location: KeyLocation): SiteAuthority {
  const stored = listAuthorityKeys(location).at(-1)
  const certificate = stored && readAuthorityCertificate(location, stored.public_key.kid)
  if (!certificate)
    throw new OfflineCommandError(1, 'this key folder has no authority', '`platform keys ca init` makes one')
  return { stored, certificate }
}

/** Returns the authorities whose certificates may still be in use: replaced ones first, the signing one last. */
export function listPinnableAuthorities(location: KeyLocation, now: number): X509Certificate[] {
  const kids = readKeyFiles(location.keys)
    .filter(({ public_key: { use, status } }) => use === 'authority' && status !== 'revoked')
    .map(({ public_key }) => public_key.kid)
  return kids
    .flatMap((kid) => readAuthorityCertificate(location, kid) ?? [])
    .filter(({ validToDate }) => validToDate.getTime() > now)
}

/**
 * Parses certificates for comparison before pinning. Throws `OfflineCommandError` (2) if the text has no certificate
 * of an authority.
 */
export function parseAuthorityCertificates(text: string): X509Certificate[] {
  try {
    const certificates = parseCertificates(text)
    if (certificates.length > 0 && certificates.every(({ ca }) => ca)) return certificates
  } catch {
    // Reported below.
  }
  throw new OfflineCommandError(
    2,
    'the file contains no certificates of authorities',
    '`platform keys ca show --out FILE` writes it',
  )
}

function listAuthorityKeys(location: KeyLocation): StoredKey[] {
  return readKeyFiles(location.keys).filter(
    ({ public_key: { use, status } }) => use === 'authority' && status === 'active',
  )
}

/** Throws unless the certificate matches the key: otherwise every peer would pin a planted certificate. */
function readAuthorityCertificate(location: KeyLocation, kid: string): X509Certificate | undefined {
  const file = join(certificatesFolder(location), `${kid}.pem`)
  if (!fs.existsSync(file)) return undefined
  const certificate = new X509Certificate(fs.readFileSync(file))
  const storedKey = readKeyFiles(location.keys).find(({ public_key }) => public_key.kid === kid)
  const jwk = storedKey && certificate.publicKey.export({ format: 'jwk' })
  const isOwn = jwk && jwk.x === storedKey.public_key.jwk.x && jwk.y === storedKey.public_key.jwk.y
  if (!isOwn) throw new OfflineCommandError(3, `${file} is not the certificate of ${kid}`, 'restore it from a backup')
  return certificate
}
