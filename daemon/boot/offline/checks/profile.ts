// Whether a start would accept the profile, and how long its accreditations last.
import { settings as siteRoleSettings } from '../../../roles/site/settings.ts'
import { valuesOf } from '../../profile.ts'
import type { Examined } from '../examination.ts'
import { ending, type Finding, fine, problem } from '../finding.ts'
import { list } from '../site-peers.ts'
import { profileProblems, settledProfile } from '../site-profile.ts'

export async function profileFindings({ folder, env, now }: Examined): Promise<Finding[]> {
  const peers = (await list(folder)).map((peer) => peer.name)
  const faults = profileProblems(folder.profile, env, peers, now)
  if (faults.length > 0) {
    return faults.map(({ path, message }) => problem('profile', `${path}: ${message}`, `edit ${folder.profile}`))
  }
  const { accreditations } = valuesOf(settledProfile(folder, env), siteRoleSettings)
  const endings = Object.entries(accreditations).flatMap(([peer, { valid_until }]) => {
    const remedy = `renew it with its authority, then set site.accreditations.${peer} in ${folder.profile}`
    // Valid through its last day.
    const end = Date.parse(`${valid_until}T23:59:59.999Z`)
    return ending('profile', `the accreditation of the channel to ${peer}`, end, now, remedy) ?? []
  })
  return [fine('profile', `${folder.profile} is valid`), ...endings]
}
