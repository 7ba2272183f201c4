// The fields of a certificate that node:crypto does not expose: names in their own bytes, usages, SANs.
import { X509Certificate } from 'node:crypto'
import { type DerElement, decodeTime, expectTag, iterateElements, parseDer, parseExtensions, tags } from './der.ts'

export type Certificate = {
  readonly x509: X509Certificate
  /** SHA-256, lower-case hexadecimal. */
  readonly fingerprint: string
  /** RFC 4514, most specific first. */
  readonly dn: string
  readonly uris: readonly string[]
  readonly emails: readonly string[]
  /** The bytes of names and serial number, in hexadecimal: equal or not, with no reading of them in between. */
  readonly subject: string
  readonly issuer: string
  readonly serial: string
  /** Epoch milliseconds. */
  readonly not_before: number
  readonly not_after: number
  /** Undefined: the certificate does not limit it. */
  readonly key_usage: ReadonlySet<KeyUsage> | undefined
  readonly extended_key_usage: readonly string[]
}

/** RFC 5280 section 4.2.1.3, those that matter here, by their bit. */
const keyUsageBits = { digital_signature: 0, key_cert_sign: 5, crl_sign: 6 } as const
type KeyUsage = keyof typeof keyUsageBits

const oids = { key_usage: '2.5.29.15', subject_alt_name: '2.5.29.17' }

/** Context tags of GeneralName. */
const generalNameTags = { email: 0x81, uri: 0x86 } as const

const version_tag = 0xa0
const extensions_tag = 0xa3

/** Throws an Error for bytes (DER) that are not a certificate. */
export function parseCertificate(der: Buffer): Certificate {
  const x509 = new X509Certificate(der)
  const [tbs] = iterateElements(expectTag(parseDer(x509.raw), tags.sequence))
  const parts = [...iterateElements(expectTag(tbs, tags.sequence))]
  const [serial, , issuer, validity, subject] = parts[0]?.tag === version_tag ? parts.slice(1) : parts
  const [from, to] = iterateElements(expectTag(validity, tags.sequence))
  const list = parts.find(({ tag }) => tag === extensions_tag)
  const found = list === undefined ? [] : parseExtensions(parseDer(list.content))
  const extension = (oid: string) => found.find((each) => each.oid === oid)?.value
  const names = parseGeneralNames(extension(oids.subject_alt_name))
  return {
    x509,
    fingerprint: x509.fingerprint256.replaceAll(':', '').toLowerCase(),
    dn: formatDn(x509.subject),
    uris: names.filter(({ tag }) => tag === generalNameTags.uri).map(decodeText),
    emails: names.filter(({ tag }) => tag === generalNameTags.email).map(decodeText),
    subject: expectTag(subject, tags.sequence).whole.toString('hex'),
    issuer: expectTag(issuer, tags.sequence).whole.toString('hex'),
    serial: expectTag(serial, tags.integer).content.toString('hex'),
    not_before: decodeTime(from),
    not_after: decodeTime(to),
    key_usage: parseKeyUsage(extension(oids.key_usage)),
    extended_key_usage: x509.keyUsage ?? [],
  }
}

function parseGeneralNames(value: Buffer | undefined): DerElement[] {
  return value === undefined ? [] : [...iterateElements(expectTag(parseDer(value), tags.sequence))]
}

function decodeText({ content }: DerElement): string {
  return content.toString('latin1')
}

function parseKeyUsage(value: Buffer | undefined): ReadonlySet<KeyUsage> | undefined {
  if (value === undefined) return undefined
  // The first byte counts the unused bits at the end, which are zero.
  const bits = expectTag(parseDer(value), tags.bit_string).content.subarray(1)
  const names = Object.keys(keyUsageBits) as KeyUsage[]
  return new Set(names.filter((name) => ((bits[0] ?? 0) >> (7 - keyUsageBits[name])) & 1))
}

/** node:crypto prints one RDN a line, escaped after RFC 2253, in the order of the certificate; openssl turns all of it. */
function formatDn(lines: string | undefined): string {
  return (lines ?? '')
    .split('\n')
    .map((rdn) => rdn.split(' + ').reverse().join('+'))
    .reverse()
    .join(',')
}
