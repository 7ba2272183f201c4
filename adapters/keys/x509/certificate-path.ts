// Builds the path from a client certificate to a trusted root; each step is checked for signature, validity and usage.
import { type Certificate, parseCertificate } from './certificate.ts'

/** RFC 5280 section 4.2.1.12. */
const client_auth_oid = '1.3.6.1.5.5.7.3.2'
const max_path_length = 8

/** `steps` pairs each certificate with its issuer, from the leaf to the root. */
export type CertificatePath = {
  readonly leaf: Certificate
  readonly steps: readonly { readonly certificate: Certificate; readonly issuer: Certificate }[]
}

/** The authorities of a PEM file. Throws an Error if it has none, or a certificate that is not an authority. */
export function parseAuthorities(pem: string): Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  if (blocks.length === 0) throw new Error('it holds no certificate')
  return blocks.map((block) => {
    const authority = parseCertificate(Buffer.from(block.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64'))
    if (!isAuthority(authority)) throw new Error(`${authority.dn} is not an authority`)
    return authority
  })
}

/**
 * Returns the path, or the reason for the log why none was found. Intermediate authorities come from the site's file,
 * never from the client. `now` in epoch milliseconds.
 */
export function buildCertificatePath(
  der: Buffer,
  authorities: readonly Certificate[],
  now: number,
): CertificatePath | { readonly refused: string } {
  const leaf = tryParseCertificate(der)
  if (!leaf) return { refused: 'malformed' }
  if (leaf.x509.ca) return { refused: 'an_authority' }
  if (!isCurrent(leaf, now)) return { refused: now < leaf.not_before ? 'not_yet_valid' : 'expired' }
  const signs = leaf.key_usage?.has('digital_signature') ?? true
  if (!signs || !leaf.extended_key_usage.includes(client_auth_oid)) return { refused: 'not_for_clients' }
  const steps = buildSteps(leaf, authorities, now)
  return steps ? { leaf, steps } : { refused: 'untrusted' }
}

function tryParseCertificate(der: Buffer): Certificate | undefined {
  try {
    return parseCertificate(der)
  } catch {
    return undefined
  }
}

function buildSteps(leaf: Certificate, authorities: readonly Certificate[], now: number) {
  const usable = authorities.filter((authority) => isCurrent(authority, now))
  const steps: { certificate: Certificate; issuer: Certificate }[] = []
  let certificate = leaf
  while (steps.length < max_path_length) {
    const issuer = usable.find((authority) => hasIssued(authority, certificate))
    if (!issuer) return undefined
    steps.push({ certificate, issuer })
    if (hasIssued(issuer, issuer)) return steps
    certificate = issuer
  }
  return undefined
}

function hasIssued(authority: Certificate, certificate: Certificate): boolean {
  return certificate.x509.checkIssued(authority.x509) && certificate.x509.verify(authority.x509.publicKey)
}

function isAuthority({ x509, key_usage }: Certificate): boolean {
  return x509.ca && (key_usage?.has('key_cert_sign') ?? true)
}

function isCurrent({ not_before, not_after }: Certificate, now: number): boolean {
  return not_before <= now && now < not_after
}
