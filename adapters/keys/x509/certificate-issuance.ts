// Certificates of a site authority: its own, those of sites, and the requests that a site makes for one.
import './reflect-metadata.ts'
import { randomBytes, webcrypto } from 'node:crypto'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  Pkcs10CertificateRequest,
  Pkcs10CertificateRequestGenerator,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509'
import { roleCertificateUri } from '../../../daemon/kernel/identity/role-certificate.ts'

type CryptoKey = webcrypto.CryptoKey
/** A pair of ES384, the one algorithm of these that every TLS stack takes. */
export type CertificateKeyPair = { readonly publicKey: CryptoKey; readonly privateKey: CryptoKey }

/** The names of a site in its certificate: for its peers, and hosts for programs that check these. */
export type SiteNames = { readonly site: string; readonly dns: readonly string[]; readonly ip: readonly string[] }

/** The names of a role of a site: for the other roles, and hosts as above. A request for a certificate names no role. */
export type RoleNames = SiteNames & { readonly role: string }

/** Epoch milliseconds. */
export type ValidityPeriod = { readonly not_before: number; readonly not_after: number }

const ES384 = { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' }
const subject_alt_name_oid = '2.5.29.17'
const siteUrnPattern = /^urn:platform:site:([a-z0-9][a-z0-9-]{0,62})$/

export async function generateCertificateKeys(): Promise<CertificateKeyPair> {
  return (await webcrypto.subtle.generateKey(ES384, true, ['sign', 'verify'])) as CertificateKeyPair
}

/** PEM of a self-signed certificate that may sign those of sites and nothing below them. */
export async function createAuthorityCertificate(
  name: string,
  keys: CertificateKeyPair,
  life: ValidityPeriod,
): Promise<string> {
  const made = await X509CertificateGenerator.createSelfSigned(
    {
      ...commonFields(life),
      name: [{ CN: [name] }],
      keys,
      extensions: [
        new BasicConstraintsExtension(true, 0, true),
        new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
        await SubjectKeyIdentifierExtension.create(keys.publicKey, false, webcrypto),
      ],
    },
    webcrypto,
  )
  return formatPem(made)
}

/** PEM. For both ends of a connection: a site, or a role, is reached by others, and reaches them. */
export async function createSiteCertificate(
  names: SiteNames | RoleNames,
  publicKey: CryptoKey,
  authority: { readonly certificate: string; readonly key: CryptoKey },
  life: ValidityPeriod,
): Promise<string> {
  const issuer = new X509Certificate(authority.certificate)
  const made = await X509CertificateGenerator.create(
    {
      ...commonFields(life),
      subject: [{ CN: ['role' in names ? `${names.role} of ${names.site}` : names.site] }],
      issuer: issuer.subjectName,
      publicKey,
      signingKey: authority.key,
      extensions: [
        new BasicConstraintsExtension(false, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]),
        buildAlternativeNames(names),
        await SubjectKeyIdentifierExtension.create(publicKey, false, webcrypto),
        await AuthorityKeyIdentifierExtension.create(await issuer.publicKey.export(webcrypto), false, webcrypto),
      ],
    },
    webcrypto,
  )
  return formatPem(made)
}

/** PEM of a PKCS #10 request, which proves that the requester has the key. */
export async function createCertificateRequest(names: SiteNames, keys: CertificateKeyPair): Promise<string> {
  const extensions: Extension[] = [buildAlternativeNames(names)]
  const name = [{ CN: [names.site] }]
  const given = { name, keys, signingAlgorithm: ES384, extensions }
  return formatPem(await Pkcs10CertificateRequestGenerator.create(given, webcrypto))
}

export type ParsedCertificateRequest = { readonly names: SiteNames; readonly publicKey: CryptoKey }

/** Undefined for text without a request, a signature by another key, another algorithm, and any number of sites but one. */
export async function parseCertificateRequest(text: string): Promise<ParsedCertificateRequest | undefined> {
  try {
    const request = new Pkcs10CertificateRequest(text)
    const names = readSiteNames(request.extensions)
    if (!names || !(await request.verify(webcrypto))) return undefined
    return { names, publicKey: await request.publicKey.export(ES384, ['verify'], webcrypto) }
  } catch {
    return undefined
  }
}

/** Undefined unless exactly one site is named, and nothing else than hosts beside it. */
function readSiteNames(extensions: readonly Extension[]): SiteNames | undefined {
  const all = extensions.filter(({ type }) => type === subject_alt_name_oid)
  const found = all.flatMap(({ rawData }) => new SubjectAlternativeNameExtension(rawData).names.toJSON())
  const of = (type: string) => found.filter((each) => each.type === type).map(({ value }) => String(value))
  const sites = of('url').map((url) => siteUrnPattern.exec(url)?.[1])
  const [site] = sites
  const [dns, ip] = [of('dns'), of('ip')]
  if (sites.length !== 1 || site === undefined || dns.length + ip.length + 1 !== found.length) return undefined
  return { site, dns, ip }
}

function buildAlternativeNames(names: SiteNames | RoleNames): SubjectAlternativeNameExtension {
  const { site, dns, ip } = names
  const value = 'role' in names ? roleCertificateUri(site, names.role) : `urn:platform:site:${site}`
  return new SubjectAlternativeNameExtension([
    { type: 'url', value },
    ...dns.map((value) => ({ type: 'dns' as const, value })),
    ...ip.map((value) => ({ type: 'ip' as const, value })),
  ])
}

function commonFields({ not_before, not_after }: ValidityPeriod) {
  return {
    // 127 bits, positive: nobody can foresee a certificate to prepare a collision for it.
    serialNumber: `40${randomBytes(15).toString('hex')}`,
    notBefore: new Date(not_before),
    notAfter: new Date(not_after),
    signingAlgorithm: ES384,
  }
}

function formatPem(made: { toString(format: 'pem'): string }): string {
  return `${made.toString('pem').trim()}\n`
}
