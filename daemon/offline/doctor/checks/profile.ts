// Checks that a start would accept the profile, and that its accreditations do not expire soon.

import type { SiteFolder } from '../../../boot/storage/site-folder.ts'
import { isToolSettingIgnored } from '../../../kernel/api/mcp-tools.ts'
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import { platformSettings } from '../../../kernel/settings/platform-settings.ts'
import type { ResolvedSettings } from '../../../kernel/settings/settings.ts'
import { settings as siteRoleSettings } from '../../../roles/site/settings.ts'
import { listPeers } from '../../peers/site-peers.ts'
import {
  type EnvironmentVariables,
  listProfileProblems,
  listProfileRoles,
  resolveProfile,
} from '../../site/site-profile.ts'
import type { DoctorContext } from '../examine-site.ts'
import { type DoctorFinding, reportExpiry, reportOk, reportProblem, reportWarning } from '../finding.ts'

export async function checkProfile({ folder, env, now }: DoctorContext): Promise<DoctorFinding[]> {
  const peers = (await listPeers(folder)).map((peer) => peer.name)
  const faults = await listProfileProblems(folder.profile, env, peers, now)
  if (faults.length > 0) {
    return faults.map(({ path, message }) =>
      reportProblem('profile.invalid', `${path}: ${message}`, `edit ${folder.profile}`),
    )
  }
  const resolved = resolveProfile(folder, env)
  const { accreditations } = getSettings(resolved, siteRoleSettings)
  const endings = Object.entries(accreditations).flatMap(([peer, { valid_until }]) => {
    const remedy = `renew it with its authority, then set site.accreditations.${peer} in ${folder.profile}`
    // Valid through its last day.
    const end = Date.parse(`${valid_until}T23:59:59.999Z`)
    return (
      reportExpiry('profile.accreditation_expiring', `the accreditation of the channel to ${peer}`, end, now, remedy) ??
      []
    )
  })
  return [reportOk('profile', `${folder.profile} is valid`), ...endings, ...reportIgnoredTools(folder, env, resolved)]
}

/** The site starts with such a setting, and logs it: an operator who expects tools should see the reason here. */
function reportIgnoredTools(
  folder: SiteFolder,
  env: EnvironmentVariables,
  resolved: ResolvedSettings,
): DoctorFinding[] {
  const { deployment_profile } = getSettings(resolved, platformSettings)
  const deployment = { deployment_profile, settings: resolved }
  return listProfileRoles(folder, env)
    .filter((role) => isToolSettingIgnored({ role, deployment }))
    .map(({ name, tool_profiles = [] }) =>
      reportWarning(
        'profile.setting_ignored',
        `${name}.mcp_enabled has no effect: ${name} offers tools in the profiles ${tool_profiles.join(', ')} alone, and this is ${deployment_profile}`,
        `remove ${name}.mcp_enabled from ${folder.profile}, or its variable from the environment`,
      ),
    )
}
