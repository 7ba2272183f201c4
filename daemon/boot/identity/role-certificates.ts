// Finds the role of this site that a client certificate names, by the authorities in the folder of the site.
import { X509Certificate } from 'node:crypto'
import { type ListFileCheckInterval, revocationListFile } from '../../../adapters/identity/x509/revocation-list-file.ts'
import { parseCertificates } from '../../../adapters/transport/mtls/material.ts'
import type { IdentityProvider, PresentedCertificate } from '../../kernel/identity/identity.ts'
import { identifyRole, isValidAt } from '../../kernel/identity/role-certificate.ts'
import type { Log } from '../../kernel/telemetry/log.ts'
import { roleAuthoritiesFile, type SiteFolder } from '../storage/site-folder.ts'

export type RoleCertificatesOptions = {
  readonly folder: SiteFolder
  readonly site: string
  readonly log: Log
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly recheck: ListFileCheckInterval
}

/** Of a connection: the signature is verified once for the authorities as they are, the time is compared at each request. */
type JudgedCertificate = {
  readonly certificate: X509Certificate
  readonly authorities: readonly X509Certificate[]
  readonly role: string | undefined
}

/** A certificate that no authority of the site has signed is not that of a role, and goes on to the other providers. */
export function roleCertificates({ folder, site, log, now, recheck }: RoleCertificatesOptions) {
  const onFault = (reason: string) => log.error('identity.role_authorities.failed', { reason })
  const readAuthorities = revocationListFile(roleAuthoritiesFile(folder), parseAuthorities, recheck, onFault)
  const known = new WeakMap<PresentedCertificate, JudgedCertificate>()
  const judge = (shown: PresentedCertificate, authorities: readonly X509Certificate[]): JudgedCertificate => {
    const certificate = new X509Certificate(shown.der)
    const found = identifyRole(certificate, 'client', { site, authorities, now: now() })
    return { certificate, authorities, role: 'role' in found ? found.role : undefined }
  }
  const findRole: NonNullable<IdentityProvider['findRole']> = (shown) => {
    if (shown.fault !== undefined) return undefined
    const authorities = readAuthorities()
    const earlier = known.get(shown)
    const judged = earlier?.authorities === authorities ? earlier : judge(shown, authorities)
    known.set(shown, judged)
    return isValidAt(judged.certificate, now()) ? judged.role : undefined
  }
  return findRole
}

function parseAuthorities(bytes: Buffer): X509Certificate[] {
  const authorities = parseCertificates(bytes.toString('utf8'))
  if (authorities.length === 0 || authorities.some(({ ca }) => !ca))
    throw new Error('the file contains something else than certificates of authorities')
  return authorities
}
