// The certificate that the site presents to its peers: issued by its own authority, or requested from one elsewhere.
import { createPrivateKey, KeyObject, X509Certificate } from 'node:crypto'
import * as fs from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { importSigningKey } from '../../../adapters/keys/jose/crypto-keys.ts'
import { writePrivateText } from '../../../adapters/keys/jose/key-files.ts'
import {
  type CertificateKeyPair,
  createCertificateRequest,
  createSiteCertificate,
  generateCertificateKeys,
  type ParsedCertificateRequest,
  parseCertificateRequest,
  type RoleNames,
  type SiteNames,
} from '../../../adapters/keys/x509/certificate-issuance.ts'
import { readSecretFile } from '../../../adapters/platform/secret-file/read-secret-file.ts'
import { parseCertificates } from '../../../adapters/transport/mtls/material.ts'
import { keyFingerprint, readSiteName } from '../../../adapters/transport/mtls/pins.ts'
import { deriveCertificatePassphrase } from '../../boot/host/certificate-passphrase.ts'
import { certificatesFolder, type SiteFolder, siteCertificateFile } from '../../boot/storage/site-folder.ts'
import { recordOperatorAction } from '../audit/operator-action.ts'
import { day_ms } from '../doctor/finding.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { type EnvironmentVariables, readSiteSettings } from '../site/site-profile.ts'
import { clock_skew_ms, readSiteAuthority, type SiteAuthority } from './site-authority.ts'
import type { KeyLocation } from './site-keys.ts'
import { readSitePassphrase } from './site-passphrase.ts'

export type CertificateIssueOptions = {
  readonly days: number
  /** Epoch milliseconds. */
  readonly now: number
  /** Passphrase of the authority's key. */
  readonly passphrase: () => string | undefined
}

export type SiteCertificateSummary = {
  readonly site: string
  readonly names: string
  readonly issuer: string
  readonly not_before: string
  readonly not_after: string
  /** SHA-256 of the public key, which the strictest pin names. */
  readonly key: string
}

/**
 * Issues a certificate with a new key. Throws `OfflineCommandError` if the site has no authority, and `KeyLockedError`.
 */
export async function issueSiteCertificate(
  folder: SiteFolder,
  env: EnvironmentVariables,
  hosts: readonly string[],
  terms: CertificateIssueOptions,
): Promise<SiteCertificateSummary> {
  const pair = await generateCertificateKeys()
  const names = toSiteNames(readSiteSettings(folder, env).platform.name, hosts)
  const pem = await signSiteCertificate(readSiteAuthority(folder), { names, publicKey: pair.publicKey }, terms)
  return await activateCertificate(folder, env, pem, exportKeyPem(pair, deriveKeyPassphrase(folder, env)), 'issue')
}

/** Issues a certificate for the names of the current one. */
export async function renewSiteCertificate(
  folder: SiteFolder,
  env: EnvironmentVariables,
  terms: CertificateIssueOptions,
): Promise<SiteCertificateSummary> {
  return await issueSiteCertificate(folder, env, listHosts(readSiteCertificate(folder)), terms)
}

/** Creates the key of the next certificate, which `keepKey` stores in the site, and a request for an authority. */
export async function requestSiteCertificate(folder: SiteFolder, env: EnvironmentVariables, hosts: readonly string[]) {
  const pair = await generateCertificateKeys()
  const names = toSiteNames(readSiteSettings(folder, env).platform.name, hosts)
  const key = exportKeyPem(pair, deriveKeyPassphrase(folder, env))
  const keepKey = () => writePrivateText(certificatesFolder(folder), next_key_file, key)
  return { text: await createCertificateRequest(names, pair), keep: keepKey }
}

/** Parses a certificate request. Throws `OfflineCommandError` (2) if it is not a request of one site. */
export async function requireCertificateRequest(text: string): Promise<ParsedCertificateRequest> {
  const request = await parseCertificateRequest(text)
  if (!request)
    throw new OfflineCommandError(
      2,
      'the file is not a certificate request of a site',
      '`platform keys cert request --out FILE` makes one',
    )
  return request
}

/** Returns the requested certificate as PEM. Throws as `issueSiteCertificate` does. */
export async function issueRequestedCertificate(
  location: KeyLocation | SiteFolder,
  env: EnvironmentVariables,
  request: ParsedCertificateRequest,
  terms: CertificateIssueOptions,
) {
  const pem = await signSiteCertificate(readSiteAuthority(location), request, terms)
  if ('profile' in location) await recordCertificateIssue(location, env, new X509Certificate(pem), 'issue')
  return pem
}

/** Installs the certificate for the last request. Throws `OfflineCommandError` (2, 3) for another certificate. */
export async function installSiteCertificate(
  folder: SiteFolder,
  env: EnvironmentVariables,
  text: string,
): Promise<SiteCertificateSummary> {
  const nextKeyFile = join(certificatesFolder(folder), next_key_file)
  if (!fs.existsSync(nextKeyFile)) {
    throw new OfflineCommandError(
      3,
      'no certificate was requested here',
      '`platform keys cert request --out FILE` makes the key and the request',
    )
  }
  const key = readSecretFile(nextKeyFile)
  const [leaf] = parseCertificateChain(text)
  const passphrase = deriveKeyPassphrase(folder, env)
  const secret = passphrase === undefined ? {} : { passphrase }
  if (!leaf?.checkPrivateKey(createPrivateKey({ key, ...secret }))) {
    throw new OfflineCommandError(3, 'the certificate is not for the key of the last request')
  }
  if (readSiteName(leaf) !== readSiteSettings(folder, env).platform.name) {
    throw new OfflineCommandError(3, 'the certificate does not name this site')
  }
  const summary = await activateCertificate(folder, env, parseCertificateChain(text).join(''), key, 'install')
  fs.rmSync(nextKeyFile)
  return summary
}

/** Throws `OfflineCommandError` (1) if there is no certificate. */
export function showSiteCertificate(folder: SiteFolder): SiteCertificateSummary {
  return summarizeCertificate(readSiteCertificate(folder))
}

const next_key_file = 'next.pem'

/** PEM, signed by the authority. Throws `OfflineCommandError` (3) if that has expired, and `KeyLockedError`. */
export async function signSiteCertificate(
  { stored, certificate }: SiteAuthority,
  { names, publicKey }: { readonly names: SiteNames | RoleNames; readonly publicKey: CertificateKeyPair['publicKey'] },
  terms: CertificateIssueOptions,
) {
  const { days, now, passphrase } = terms
  const not_after = Math.min(now + days * day_ms, certificate.validToDate.getTime())
  if (not_after <= now)
    throw new OfflineCommandError(
      3,
      'the certificate of the authority has expired',
      'replace it: `platform keys ca init --replace`',
    )
  const authority = { certificate: certificate.toString(), key: await importSigningKey(stored, passphrase) }
  return await createSiteCertificate(names, publicKey, authority, { not_before: now - clock_skew_ms, not_after })
}

/** Writes certificate and key to one file, so that a reader never gets the key of another certificate. */
async function activateCertificate(
  folder: SiteFolder,
  env: EnvironmentVariables,
  certificates: string,
  key: string,
  verb: string,
) {
  const leaf = new X509Certificate(certificates)
  writePrivateText(certificatesFolder(folder), 'site.pem', `${certificates}${key}`)
  await recordCertificateIssue(folder, env, leaf, verb)
  return summarizeCertificate(leaf)
}

async function recordCertificateIssue(
  folder: SiteFolder,
  env: EnvironmentVariables,
  leaf: X509Certificate,
  verb: string,
): Promise<void> {
  const { site, not_after, key } = summarizeCertificate(leaf)
  const detail = { serial: leaf.serialNumber, not_after, key }
  await recordOperatorAction(folder, env, { action: `site.certificate.${verb}`, target: site, detail })
}

function readSiteCertificate(folder: SiteFolder): X509Certificate {
  const file = siteCertificateFile(folder)
  const [certificate] = fs.existsSync(file) ? parseCertificateChain(readSecretFile(file)) : []
  if (certificate) return certificate
  throw new OfflineCommandError(1, 'the site has no certificate', '`platform keys cert issue` makes one')
}

export function parseCertificateChain(text: string): X509Certificate[] {
  try {
    return parseCertificates(text)
  } catch {
    throw new OfflineCommandError(2, 'the file contains a certificate that cannot be parsed')
  }
}

function summarizeCertificate(leaf: X509Certificate): SiteCertificateSummary {
  return {
    site: readSiteName(leaf) ?? '',
    names: leaf.subjectAltName ?? '',
    issuer: leaf.issuer,
    not_before: leaf.validFromDate.toISOString(),
    not_after: leaf.validToDate.toISOString(),
    key: keyFingerprint(leaf.publicKey),
  }
}

/** Throws `OfflineCommandError` (2) for a host that is neither a name nor an address. */
export function toSiteNames(site: string, hosts: readonly string[]): SiteNames {
  const invalidHost = hosts.find((host) => isIP(host) === 0 && !/^[A-Za-z0-9*]([A-Za-z0-9.-]{0,252})$/.test(host))
  if (invalidHost !== undefined)
    throw new OfflineCommandError(2, `${invalidHost} is neither an IP address nor a host name`)
  return { site, dns: hosts.filter((host) => isIP(host) === 0), ip: hosts.filter((host) => isIP(host) !== 0) }
}

export function listHosts({ subjectAltName = '' }: X509Certificate): string[] {
  return subjectAltName.split(', ').flatMap((name) => /^(?:DNS|IP Address):(.+)$/.exec(name)?.[1] ?? [])
}

/** Undefined if the profile names no passphrase of the site's keys. */
function deriveKeyPassphrase(folder: SiteFolder, env: EnvironmentVariables): string | undefined {
  const passphrase = readSitePassphrase(folder, env)
  return passphrase === undefined
    ? undefined
    : deriveCertificatePassphrase(passphrase, readSiteSettings(folder, env).platform.name)
}

/** PKCS #8. */
export function exportKeyPem({ privateKey }: CertificateKeyPair, passphrase: string | undefined): string {
  const closed = passphrase === undefined ? {} : { cipher: 'aes-256-cbc', passphrase }
  return KeyObject.from(privateKey).export({ type: 'pkcs8', format: 'pem', ...closed }) as string
}
