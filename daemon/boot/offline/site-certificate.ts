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
import { certificatesOfText } from '../../../adapters/transport/mtls/material.ts'
import { fingerprintOf, siteIn } from '../../../adapters/transport/mtls/pins.ts'
import { certificatePassphrase } from '../certificate-passphrase.ts'
import { certificatesOf, type SiteFolder, siteCertificateOf } from '../site-folder.ts'
import { record } from './deed.ts'
import { day_ms } from './finding.ts'
import { Objection } from './objection.ts'
import { type Authority, authorityOf, skew_ms } from './site-authority.ts'
import type { KeyPlace } from './site-keys.ts'
import { ofSite } from './site-passphrase.ts'
import { type Environment, siteSettings } from './site-profile.ts'

export type Issuing = {
  readonly days: number
  /** Epoch milliseconds. */
  readonly now: number
  /** Of the authority's key. */
  readonly passphrase: () => string | undefined
}

export type Shown = {
  readonly site: string
  readonly names: string
  readonly issuer: string
  readonly not_before: string
  readonly not_after: string
  /** SHA-256 of the public key: what the strictest pin names. */
  readonly key: string
}

/** With a new key each time. Throws `Objection` without an authority in the site, and `Locked`. */
export async function issueOwn(
  folder: SiteFolder,
  env: Environment,
  hosts: readonly string[],
  terms: Issuing,
): Promise<Shown> {
  const pair = await newPair()
  const names = namesOf(siteSettings(folder, env).platform.name, hosts)
  const pem = await signed(authorityOf(folder), { names, publicKey: pair.publicKey }, terms)
  return await putInForce(folder, env, pem, pemOf(pair, keyPassphrase(folder, env)), 'issue')
}

/** The same for the names that the certificate has now. */
export async function renewOwn(folder: SiteFolder, env: Environment, terms: Issuing): Promise<Shown> {
  return await issueOwn(folder, env, hostsIn(ownCertificate(folder)), terms)
}

/** The key of the next certificate, for `keep` to put into the site, and what asks an authority for it. */
export async function request(folder: SiteFolder, env: Environment, hosts: readonly string[]) {
  const pair = await newPair()
  const names = namesOf(siteSettings(folder, env).platform.name, hosts)
  const key = pemOf(pair, keyPassphrase(folder, env))
  const keep = () => writeTextPrivately(certificatesOf(folder), next, key)
  return { text: await certificateRequest(names, pair), keep }
}

/** Throws `Objection` (2) for what is no request of one site. */
export async function requestIn(text: string): Promise<ReadRequest> {
  const found = await readRequest(text)
  if (!found) throw new Objection(2, 'this is no request of a site', '`platform keys cert request` makes one')
  return found
}

/** PEM of the certificate that was asked for. Throws as `issueOwn` does. */
export async function issueFor(place: KeyPlace | SiteFolder, env: Environment, asked: ReadRequest, terms: Issuing) {
  const pem = await signed(authorityOf(place), asked, terms)
  if ('profile' in place) await recordIssue(place, env, new X509Certificate(pem), 'issue')
  return pem
}

/** Puts in force what an authority has answered to the last request. Throws `Objection` (2, 3) for another certificate. */
export async function install(folder: SiteFolder, env: Environment, text: string): Promise<Shown> {
  const waiting = join(certificatesOf(folder), next)
  if (!fs.existsSync(waiting)) {
    throw new Objection(3, 'nothing was asked for here', '`platform keys cert request` makes key and request')
  }
  const key = readPrivately(waiting)
  const [leaf] = certificatesIn(text)
  const passphrase = keyPassphrase(folder, env)
  const secret = passphrase === undefined ? {} : { passphrase }
  if (!leaf?.checkPrivateKey(createPrivateKey({ key, ...secret }))) {
    throw new Objection(3, 'the certificate is not for the key of the last request')
  }
  if (siteIn(leaf) !== siteSettings(folder, env).platform.name) {
    throw new Objection(3, 'the certificate does not name this site')
  }
  const shown = await putInForce(folder, env, certificatesIn(text).join(''), key, 'install')
  fs.rmSync(waiting)
  return shown
}

/** Throws `Objection` (1) where there is none. */
export function show(folder: SiteFolder): Shown {
  return shownOf(ownCertificate(folder))
}

const next = 'next.pem'

async function signed({ stored, certificate }: Authority, { names, publicKey }: ReadRequest, terms: Issuing) {
  const { days, now, passphrase } = terms
  const not_after = Math.min(now + days * day_ms, certificate.validToDate.getTime())
  if (not_after <= now) throw new Objection(3, 'the authority has ended', '`platform keys ca init --replace`')
  const authority = { certificate: certificate.toString(), key: await signingKey(stored, passphrase) }
  return await siteCertificate(names, publicKey, authority, { not_before: now - skew_ms, not_after })
}

/** One file for both: whoever reads it never sees the key of another certificate. */
async function putInForce(folder: SiteFolder, env: Environment, certificates: string, key: string, verb: string) {
  const leaf = new X509Certificate(certificates)
  writeTextPrivately(certificatesOf(folder), 'site.pem', `${certificates}${key}`)
  await recordIssue(folder, env, leaf, verb)
  return shownOf(leaf)
}

async function recordIssue(folder: SiteFolder, env: Environment, leaf: X509Certificate, verb: string): Promise<void> {
  const { site, not_after, key } = shownOf(leaf)
  const detail = { serial: leaf.serialNumber, not_after, key }
  await record(folder, env, { action: `site.certificate.${verb}`, target: site, detail })
}

function ownCertificate(folder: SiteFolder): X509Certificate {
  const file = siteCertificateOf(folder)
  const [own] = fs.existsSync(file) ? certificatesIn(readPrivately(file)) : []
  if (own) return own
  throw new Objection(1, 'the site has no certificate', '`platform keys cert issue` makes one')
}

function certificatesIn(text: string): X509Certificate[] {
  try {
    return certificatesOfText(text)
  } catch {
    throw new Objection(2, 'the file holds a certificate that cannot be read')
  }
}

function shownOf(leaf: X509Certificate): Shown {
  return {
    site: siteIn(leaf) ?? '',
    names: leaf.subjectAltName ?? '',
    issuer: leaf.issuer,
    not_before: leaf.validFromDate.toISOString(),
    not_after: leaf.validToDate.toISOString(),
    key: fingerprintOf(leaf.publicKey),
  }
}

function namesOf(site: string, hosts: readonly string[]): SiteNames {
  const odd = hosts.find((host) => isIP(host) === 0 && !/^[A-Za-z0-9*]([A-Za-z0-9.-]{0,252})$/.test(host))
  if (odd !== undefined) throw new Objection(2, `${odd} is neither an address nor the name of a host`)
  return { site, dns: hosts.filter((host) => isIP(host) === 0), ip: hosts.filter((host) => isIP(host) !== 0) }
}

function hostsIn({ subjectAltName = '' }: X509Certificate): string[] {
  return subjectAltName.split(', ').flatMap((name) => /^(?:DNS|IP Address):(.+)$/.exec(name)?.[1] ?? [])
}

/** Undefined where the profile names no passphrase of the site's keys. */
function keyPassphrase(folder: SiteFolder, env: Environment): string | undefined {
  const passphrase = ofSite(folder, env)
  return passphrase === undefined
    ? undefined
    : certificatePassphrase(passphrase, siteSettings(folder, env).platform.name)
}

/** PKCS #8. */
function pemOf({ privateKey }: Pair, passphrase: string | undefined): string {
  const closed = passphrase === undefined ? {} : { cipher: 'aes-256-cbc', passphrase }
  return KeyObject.from(privateKey).export({ type: 'pkcs8', format: 'pem', ...closed }) as string
}
