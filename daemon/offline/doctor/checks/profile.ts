// Checks that a start would accept the profile, and that its accreditations do not expire soon.

import { getSettings } from '../../../kernel/settings/get-settings.ts'
import { settings as siteRoleSettings } from '../../../roles/site/settings.ts'
import { listPeers } from '../../peers/site-peers.ts'
import { listProfileProblems, resolveProfile } from '../../site/site-profile.ts'
import type { DoctorContext } from '../examine-site.ts'
import { type DoctorFinding, reportExpiry, reportOk, reportProblem } from '../finding.ts'

export async function checkProfile({ folder, env, now }: DoctorContext): Promise<DoctorFinding[]> {
  const peers = (await listPeers(folder)).map((peer) => peer.name)
  const faults = listProfileProblems(folder.profile, env, peers, now)
  if (faults.length > 0) {
    return faults.map(({ path, message }) => reportProblem('profile', `${path}: ${message}`, `edit ${folder.profile}`))
  }
  const { accreditations } = getSettings(resolveProfile(folder, env), siteRoleSettings)
  const endings = Object.entries(accreditations).flatMap(([peer, { valid_until }]) => {
    const remedy = `renew it with its authority, then set site.accreditations.${peer} in ${folder.profile}`
    // Valid through its last day.
    const end = Date.parse(`${valid_until}T23:59:59.999Z`)
    return reportExpiry('profile', `the accreditation of the channel to ${peer}`, end, now, remedy) ?? []
  })
  return [reportOk('profile', `${folder.profile} is valid`), ...endings]
}
