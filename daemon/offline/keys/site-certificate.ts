// The certificate that the site shows its peers: issued by its own authority, or asked of one that lies elsewhere.
import { createPrivateKey, KeyObject, X509Certificate } from 'node:crypto'
import * as fs from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { signingKey } from '../../../adapters/keys/jose/crypto-keys.ts'
import { readPrivately, writeTextPrivately } from '../../../adapters/keys/jose/key-files.ts'
import {
  certificateRequest,
  newPair,
  type Pair,
  type ReadRequest,
  readRequest,
  type SiteNames,
  siteCertificate,
} from '../../../adapters/keys/x509/certificates.ts'
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
  /** Of the authority's key. */
  readonly passphrase: () => string | undefined
}

export type SiteCertificateSummary = {
  readonly site: string
  readonly names: string
  readonly issuer: string
  readonly not_before: string
  readonly not_after: string
  /** SHA-256 of the public key: what the strictest pin names. */
  readonly key: string
}

/** With a new key each time. Throws `OfflineCommandError` without an authority in the site, and `Locked`. */
export async function issueSiteCertificate(
  folder: SiteFolder,
  env: EnvironmentVariables,
  hosts: readonly string[],
  terms: CertificateIssueOptions,
): Promise<SiteCertificateSummary> {
  const pair = await newPair()
  const names = toSiteNames(readSiteSettings(folder, env).platform.name, hosts)
  const pem = await signSiteCertificate(readSiteAuthority(folder), { names, publicKey: pair.publicKey }, terms)
  return await activateCertificate(folder, env, pem, exportKeyPem(pair, deriveKeyPassphrase(folder, env)), 'issue')
}

/** The same for the names that the certificate has now. */
export async function renewSiteCertificate(
  folder: SiteFolder,
  env: EnvironmentVariables,
  terms: CertificateIssueOptions,
): Promise<SiteCertificateSummary> {
  return await issueSiteCertificate(folder, env, listHosts(readSiteCertificate(folder)), terms)
}

/** The key of the next certificate, for `keep` to put into the site, and what asks an authority for it. */
export async function requestSiteCertificate(folder: SiteFolder, env: EnvironmentVariables, hosts: readonly string[]) {
  const pair = await newPair()
  const names = toSiteNames(readSiteSettings(folder, env).platform.name, hosts)
  const key = exportKeyPem(pair, deriveKeyPassphrase(folder, env))
  const keep = () => writeTextPrivately(certificatesFolder(folder), next_key_file, key)
  return { text: await certificateRequest(names, pair), keep }
}

/** Throws `OfflineCommandError` (2) for what is no request of one site. */
export async function requireCertificateRequest(text: string): Promise<ReadRequest> {
  const found = await readRequest(text)
  if (!found) throw new OfflineCommandError(2, 'this is no request of a site', '`platform keys cert request` makes one')
  return found
}

/** PEM of the certificate that was asked for. Throws as `issueSiteCertificate` does. */
export async function issueRequestedCertificate(
  place: KeyLocation | SiteFolder,
  env: EnvironmentVariables,
  asked: ReadRequest,
  terms: CertificateIssueOptions,
) {
  const pem = await signSiteCertificate(readSiteAuthority(place), asked, terms)
  if ('profile' in place) await recordCertificateIssue(place, env, new X509Certificate(pem), 'issue')
  return pem
}

/** Puts in force what an authority has answered to the last request. Throws `OfflineCommandError` (2, 3) for another certificate. */
export async function installSiteCertificate(
  folder: SiteFolder,
  env: EnvironmentVariables,
  text: string,
): Promise<SiteCertificateSummary> {
  const waiting = join(certificatesFolder(folder), next_key_file)
  if (!fs.existsSync(waiting)) {
    throw new OfflineCommandError(3, 'nothing was asked for here', '`platform keys cert request` makes key and request')
  }
  const key = readPrivately(waiting)
  const [leaf] = parseCertificateChain(text)
  const passphrase = deriveKeyPassphrase(folder, env)
  const secret = passphrase === undefined ? {} : { passphrase }
  if (!leaf?.checkPrivateKey(createPrivateKey({ key, ...secret }))) {
    throw new OfflineCommandError(3, 'the certificate is not for the key of the last request')
  }
  if (readSiteName(leaf) !== readSiteSettings(folder, env).platform.name) {
    throw new OfflineCommandError(3, 'the certificate does not name this site')
  }
  const shown = await activateCertificate(folder, env, parseCertificateChain(text).join(''), key, 'install')
  fs.rmSync(waiting)
  return shown
}

/** Throws `OfflineCommandError` (1) where there is none. */
export function showSiteCertificate(folder: SiteFolder): SiteCertificateSummary {
  return summarizeCertificate(readSiteCertificate(folder))
}

const next_key_file = 'next.pem'

async function signSiteCertificate(
  { stored, certificate }: SiteAuthority,
  { names, publicKey }: ReadRequest,
  terms: CertificateIssueOptions,
) {
  const { days, now, passphrase } = terms
  const not_after = Math.min(now + days * day_ms, certificate.validToDate.getTime())
  if (not_after <= now) throw new OfflineCommandError(3, 'the authority has ended', '`platform keys ca init --replace`')
  const authority = { certificate: certificate.toString(), key: await signingKey(stored, passphrase) }
  return await siteCertificate(names, publicKey, authority, { not_before: now - clock_skew_ms, not_after })
}

/** One file for both: whoever reads it never sees the key of another certificate. */
async function activateCertificate(
  folder: SiteFolder,
  env: EnvironmentVariables,
  certificates: string,
  key: string,
  verb: string,
) {
  const leaf = new X509Certificate(certificates)
  writeTextPrivately(certificatesFolder(folder), 'site.pem', `${certificates}${key}`)
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
  const [own] = fs.existsSync(file) ? parseCertificateChain(readPrivately(file)) : []
  if (own) return own
  throw new OfflineCommandError(1, 'the site has no certificate', '`platform keys cert issue` makes one')
}

function parseCertificateChain(text: string): X509Certificate[] {
  try {
    return parseCertificates(text)
  } catch {
    throw new OfflineCommandError(2, 'the file holds a certificate that cannot be read')
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

function toSiteNames(site: string, hosts: readonly string[]): SiteNames {
  const odd = hosts.find((host) => isIP(host) === 0 && !/^[A-Za-z0-9*]([A-Za-z0-9.-]{0,252})$/.test(host))
  if (odd !== undefined) throw new OfflineCommandError(2, `${odd} is neither an address nor the name of a host`)
  return { site, dns: hosts.filter((host) => isIP(host) === 0), ip: hosts.filter((host) => isIP(host) !== 0) }
}

function listHosts({ subjectAltName = '' }: X509Certificate): string[] {
  return subjectAltName.split(', ').flatMap((name) => /^(?:DNS|IP Address):(.+)$/.exec(name)?.[1] ?? [])
}

/** Undefined where the profile names no passphrase of the site's keys. */
function deriveKeyPassphrase(folder: SiteFolder, env: EnvironmentVariables): string | undefined {
  const passphrase = readSitePassphrase(folder, env)
  return passphrase === undefined
    ? undefined
    : deriveCertificatePassphrase(passphrase, readSiteSettings(folder, env).platform.name)
}

/** PKCS #8. */
function exportKeyPem({ privateKey }: Pair, passphrase: string | undefined): string {
  const closed = passphrase === undefined ? {} : { cipher: 'aes-256-cbc', passphrase }
  return KeyObject.from(privateKey).export({ type: 'pkcs8', format: 'pem', ...closed }) as string
}
