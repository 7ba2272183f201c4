// Checks that client certificates can be verified: the expiry of each authority, and its current revocation list.
import { readFileSync } from 'node:fs'
import type { Certificate } from '../../../../adapters/keys/x509/certificate.ts'
import { parseAuthorities } from '../../../../adapters/keys/x509/certificate-path.ts'
import { parseRevocationLists, type RevocationList } from '../../../../adapters/keys/x509/revocation-list.ts'
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import { x509Settings } from '../../../kernel/settings/sso-settings.ts'
import { readSiteSettings } from '../../site/site-profile.ts'
import type { DoctorContext } from '../examine-site.ts'
import { type DoctorFinding, reportExpiry, reportOk, reportProblem } from '../finding.ts'

export function checkClientCertificates({ folder, env, now }: DoctorContext): DoctorFinding[] {
  const { ca_file, crl_file } = getSettings(readSiteSettings(folder, env).resolved, x509Settings)
  if (ca_file === undefined) return []
  const authorities = readFileWith(ca_file, (bytes) => parseAuthorities(bytes.toString('latin1')))
  if (typeof authorities === 'string')
    return [reportProblem('x509.authorities_unreadable', `${ca_file}: ${authorities}`, 'correct x509.ca_file')]
  const expiries = authorities.flatMap(
    ({ dn, not_after }) =>
      reportExpiry(
        'x509.authority_expiring',
        `the authority ${dn}`,
        not_after,
        now,
        `put its successor into ${ca_file}`,
      ) ?? [],
  )
  const revocationLists = crl_file === undefined ? [] : checkRevocationLists(crl_file, authorities, now)
  const findings = [...expiries, ...revocationLists]
  return findings.length > 0 ? findings : [reportOk('x509', `${authorities.length} authorities of client certificates`)]
}

function checkRevocationLists(file: string, authorities: readonly Certificate[], now: number): DoctorFinding[] {
  const revocationLists = readFileWith(file, parseRevocationLists)
  const remedy = `put the newest list of each authority into ${file}`
  if (typeof revocationLists === 'string')
    return [reportProblem('x509.revocations_unreadable', `${file}: ${revocationLists}`, remedy)]
  return authorities.flatMap((authority) => {
    const newest = Math.max(...revocationLists.filter((list) => list.isIssuedBy(authority)).map(readNextUpdate))
    if (newest > now) return []
    const detail = newest < 0 ? 'no revocation list of' : 'overdue revocation list of'
    return [
      reportProblem(
        'x509.revocations_outdated',
        `${detail} ${authority.dn}: requests with its certificates get 503`,
        remedy,
      ),
    ]
  })
}

function readNextUpdate({ next_update }: RevocationList): number {
  return next_update
}

/** Returns the result of `parse` on the file, or the reason why it failed. */
function readFileWith<T>(file: string, parse: (bytes: Buffer) => T): T | string {
  try {
    return parse(readFileSync(file))
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? (error as Error).message
  }
}
