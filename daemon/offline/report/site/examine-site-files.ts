// Facts for the report of a site that its files hold: findings of the doctor, roles of the profile, the certificate.
import { existsSync } from 'node:fs'
import { type SiteFolder, siteCertificateFile } from '../../../boot/storage/site-folder.ts'
import { examineSite } from '../../doctor/examine-site.ts'
import type { DoctorFinding } from '../../doctor/finding.ts'
import { showSiteCertificate } from '../../keys/site-certificate.ts'
import { type EnvironmentVariables, listProfileRoles } from '../../site/site-profile.ts'

export type ExaminedSite = {
  readonly findings: readonly DoctorFinding[]
  /** Names of the roles of the profile. */
  readonly roles: readonly string[]
  /** Absent where the site has none. */
  readonly certificate?: { readonly names: string; readonly not_after: string }
}

export async function examineSiteFiles(
  folder: SiteFolder,
  env: EnvironmentVariables,
  progress: (text: string) => void,
): Promise<ExaminedSite> {
  const findings = await examineSite(folder, env, Date.now(), progress)
  const roles = listProfileRoles(folder, env).map(({ name }) => name)
  if (!existsSync(siteCertificateFile(folder))) return { findings, roles }
  const { names, not_after } = showSiteCertificate(folder)
  return { findings, roles, certificate: { names, not_after } }
}
