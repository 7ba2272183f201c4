// Whether client certificates can be judged: each authority with its end, and a revocation list of its own that is current.
import { readFileSync } from 'node:fs'
import type { Certificate } from '../../../../adapters/keys/x509/certificate.ts'
import { authoritiesIn } from '../../../../adapters/keys/x509/certificate-path.ts'
import { type RevocationList, revocationListsIn } from '../../../../adapters/keys/x509/revocation-list.ts'
import { x509Settings } from '../../../kernel/sso-settings.ts'
import { valuesOf } from '../../profile.ts'
import type { Examined } from '../examination.ts'
import { ending, type Finding, fine, problem } from '../finding.ts'
import { siteSettings } from '../site-profile.ts'

export function clientCertificateFindings({ folder, env, now }: Examined): Finding[] {
  const { ca_file, crl_file } = valuesOf(siteSettings(folder, env).resolved, x509Settings)
  if (ca_file === undefined) return []
  const authorities = readBy(ca_file, (bytes) => authoritiesIn(bytes.toString('latin1')))
  if (typeof authorities === 'string') return [problem('x509', `${ca_file}: ${authorities}`, 'mend x509.ca_file')]
  const ends = authorities.flatMap(
    ({ dn, not_after }) =>
      ending('x509', `the authority ${dn}`, not_after, now, `put its successor into ${ca_file}`) ?? [],
  )
  const lists = crl_file === undefined ? [] : listFindings(crl_file, authorities, now)
  const found = [...ends, ...lists]
  return found.length > 0 ? found : [fine('x509', `${authorities.length} authorities of client certificates`)]
}

function listFindings(file: string, authorities: readonly Certificate[], now: number): Finding[] {
  const lists = readBy(file, revocationListsIn)
  const remedy = `put the newest list of each authority into ${file}`
  if (typeof lists === 'string') return [problem('x509', `${file}: ${lists}`, remedy)]
  return authorities.flatMap((authority) => {
    const newest = Math.max(...lists.filter((list) => list.isOf(authority)).map(nextOf))
    if (newest > now) return []
    const detail = newest < 0 ? 'there is no revocation list of' : 'the revocation list is overdue of'
    return [problem('x509', `${detail} ${authority.dn}: its certificates are answered 503`, remedy)]
  })
}

function nextOf({ next_update }: RevocationList): number {
  return next_update
}

/** What `read` makes of the file, or why it makes nothing. */
function readBy<T>(file: string, read: (bytes: Buffer) => T): T | string {
  try {
    return read(readFileSync(file))
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? (error as Error).message
  }
}
