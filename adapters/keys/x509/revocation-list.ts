// Revocation lists (RFC 5280 section 5): whole lists of one issuer, signed by it, with the day of the next one.
import { type KeyObject, verify } from 'node:crypto'
import type { Certificate } from './certificate.ts'
import {
  type DerElement,
  decodeOid,
  decodeTime,
  expectTag,
  iterateElements,
  parseDer,
  parseExtensions,
  tags,
} from './der.ts'

export type RevocationList = {
  /** Epoch milliseconds. */
  readonly this_update: number
  readonly next_update: number
  /** Serial numbers in hexadecimal, as `Certificate.serial`. */
  readonly serials: ReadonlySet<string>
  /** By this authority, under its own name, with a key that may sign lists; found out once. */
  isIssuedBy(authority: Certificate): boolean
}

/** Hash of each signature algorithm that counts; SHA-1 does not. RFC 4055, 5758, 8410. */
const hashBySignatureOid: Readonly<Record<string, string | null>> = {
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
  '1.3.101.112': null,
}

const extensions_tag = 0xa0

/**
 * The lists of a file: any number in PEM, or one in DER. Throws an Error for a file without any, and for a list that
 * cannot be read whole: a part of a list, or one of other issuers' certificates, says so in a critical extension.
 */
export function parseRevocationLists(file: Buffer): RevocationList[] {
  if (file[0] === tags.sequence) return [parseList(file)]
  const blocks = file.toString('latin1').match(/-----BEGIN X509 CRL-----[^-]+-----END X509 CRL-----/g) ?? []
  if (blocks.length === 0) throw new Error('it holds no revocation list')
  return blocks.map((block) => parseList(Buffer.from(block.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64')))
}

function parseList(bytes: Buffer): RevocationList {
  const [tbs, algorithm, signature] = iterateElements(expectTag(parseDer(bytes), tags.sequence))
  const signed = expectTag(tbs, tags.sequence)
  const parts = [...iterateElements(signed)]
  // The version is absent in version 1.
  if (parts[0]?.tag === tags.integer) parts.shift()
  const [inner, issuer, from, to, ...rest] = parts
  if (!inner || !algorithm?.whole.equals(inner.whole)) throw new Error('two signature algorithms in one list')
  const entries = rest.find(({ tag }) => tag === tags.sequence)
  const extensions = rest.find(({ tag }) => tag === extensions_tag)
  if (extensions) rejectCriticalExtensions(parseDer(extensions.content))
  const name = expectTag(issuer, tags.sequence).whole.toString('hex')
  const seal = expectTag(signature, tags.bit_string).content.subarray(1)
  const [oid] = iterateElements(inner)
  const hash = hashBySignatureOid[decodeOid(oid)]
  if (hash === undefined) throw new Error(`signature algorithm ${decodeOid(oid)} is not one that counts`)
  const proven = new WeakMap<Certificate, boolean>()
  const isOf = (authority: Certificate) => {
    const { subject, key_usage, x509 } = authority
    const is = proven.get(authority) ?? (subject === name && isSignatureValid(hash, signed.whole, x509.publicKey, seal))
    proven.set(authority, is)
    return is && (key_usage?.has('crl_sign') ?? true)
  }
  return {
    this_update: decodeTime(from),
    next_update: decodeTime(to),
    serials: new Set(entries ? readSerials(entries) : []),
    isIssuedBy: isOf,
  }
}

function* readSerials(entries: DerElement): Generator<string> {
  for (const entry of iterateElements(entries)) {
    const [serial, , extensions] = iterateElements(expectTag(entry, tags.sequence))
    if (extensions) rejectCriticalExtensions(extensions)
    yield expectTag(serial, tags.integer).content.toString('hex')
  }
}

function rejectCriticalExtensions(extensions: DerElement): void {
  const critical = parseExtensions(extensions).find(({ isCritical }) => isCritical)
  if (critical) throw new Error(`a critical extension ${critical.oid}: only whole lists of one issuer can be used`)
}

function isSignatureValid(hash: string | null, bytes: Buffer, key: KeyObject, signature: Buffer): boolean {
  try {
    return verify(hash, bytes, key, signature)
  } catch {
    return false
  }
}
