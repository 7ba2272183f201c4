// Explains a socket that is not there: a role that the profile of the site does not run.
import type { Refusal } from '../../daemon/kernel/error/errors.ts'
import { offline, type SiteFolder } from '../../daemon/offline/offline.ts'
import { ExplainedRefusal } from './explained-refusal.ts'

/** The refusal with the setting to change; unchanged where the profile runs the role, or cannot be read. */
export async function explainMissingRole(
  refusal: Refusal,
  role: string,
  folder: SiteFolder,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Refusal> {
  const roles = await readProfileRoles(folder, env)
  if (roles === undefined || roles.includes(role)) return refusal
  return new ExplainedRefusal(refusal.code, `This site's profile has no role ${role}: add it to platform.roles`)
}

async function readProfileRoles(
  folder: SiteFolder,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly string[] | undefined> {
  try {
    const { readSiteSettings } = await offline.profile()
    return readSiteSettings(folder, env).platform.roles
  } catch {
    // The profile has a fault of its own, which `platform doctor` shows.
    return undefined
  }
}
