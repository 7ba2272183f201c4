// What a certificate says of itself, with what node:crypto does not tell: names in their own bytes, usages, SANs.
import { X509Certificate } from 'node:crypto'
import { type Der, derOf, expected, extensionsIn, partsOf, tags, timeIn } from './der.ts'

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
const usages = { digital_signature: 0, key_cert_sign: 5, crl_sign: 6 } as const
type KeyUsage = keyof typeof usages

const oids = { key_usage: '2.5.29.15', subject_alt_name: '2.5.29.17' }

/** Context tags of GeneralName. */
const general = { email: 0x81, uri: 0x86 } as const

const version = 0xa0
const extensions = 0xa3

/** Throws an Error for bytes (DER) that are no certificate. */
export function certificateOf(der: Buffer): Certificate {
  const x509 = new X509Certificate(der)
  const [tbs] = partsOf(expected(derOf(x509.raw), tags.sequence))
  const parts = [...partsOf(expected(tbs, tags.sequence))]
  const [serial, , issuer, validity, subject] = parts[0]?.tag === version ? parts.slice(1) : parts
  const [from, to] = partsOf(expected(validity, tags.sequence))
  const list = parts.find(({ tag }) => tag === extensions)
  const found = list === undefined ? [] : extensionsIn(derOf(list.content))
  const extension = (oid: string) => found.find((each) => each.oid === oid)?.value
  const names = generalNames(extension(oids.subject_alt_name))
  return {
    x509,
    fingerprint: x509.fingerprint256.replaceAll(':', '').toLowerCase(),
    dn: dnOf(x509.subject),
    uris: names.filter(({ tag }) => tag === general.uri).map(textOf),
    emails: names.filter(({ tag }) => tag === general.email).map(textOf),
    subject: expected(subject, tags.sequence).whole.toString('hex'),
    issuer: expected(issuer, tags.sequence).whole.toString('hex'),
    serial: expected(serial, tags.integer).content.toString('hex'),
    not_before: timeIn(from),
    not_after: timeIn(to),
    key_usage: usagesIn(extension(oids.key_usage)),
    extended_key_usage: x509.keyUsage ?? [],
  }
}

function generalNames(value: Buffer | undefined): Der[] {
  return value === undefined ? [] : [...partsOf(expected(derOf(value), tags.sequence))]
}

function textOf({ content }: Der): string {
  return content.toString('latin1')
}

function usagesIn(value: Buffer | undefined): ReadonlySet<KeyUsage> | undefined {
  if (value === undefined) return undefined
  // The first byte counts the unused bits at the end, which are zero.
  const bits = expected(derOf(value), tags.bit_string).content.subarray(1)
  const names = Object.keys(usages) as KeyUsage[]
  return new Set(names.filter((name) => ((bits[0] ?? 0) >> (7 - usages[name])) & 1))
}

/** node:crypto prints one RDN a line, escaped after RFC 2253, in the order of the certificate; openssl turns all of it. */
function dnOf(lines: string | undefined): string {
  return (lines ?? '')
    .split('\n')
    .map((rdn) => rdn.split(' + ').reverse().join('+'))
    .reverse()
    .join(',')
}
