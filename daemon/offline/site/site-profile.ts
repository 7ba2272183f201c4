// Reads the profile of a site for commands, with the same rules as the daemon.

import { dirname } from 'node:path'
import { loadRole } from '../../boot/loaded-roles.ts'
import { buildProfileSchema, readProfile, resolveProfileSettings } from '../../boot/profile.ts'
import { findStartProblems } from '../../boot/start-checks.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import { builtInRoles } from '../../kernel/identity/identity.ts'
import type { RoleOutline } from '../../kernel/role/role.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { identitySettings, labelSettings, platformSettings } from '../../kernel/settings/platform-settings.ts'
import { ProfileError, type ProfileProblem } from '../../kernel/settings/profile-error.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { outline as site } from '../../roles/site/outline.ts'
import { roles } from '../../roles.ts'
import { findSiteProblems } from '../../runtime/site/start-checks.ts'

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>

/**
 * Returns every setting with its origin, and every fault. Throws ProfileError only if the file cannot be read at all.
 */
export function resolveProfile(folder: SiteFolder, env: EnvironmentVariables): ResolvedSettings {
  return resolveProfileSettings(roles, readProfile(folder.profile), env, {}, dirname(folder.profile))
}

/**
 * All faults of the profile, unreadable YAML included; empty when a start would accept it. `peers`: names of those
 * enrolled, whose channels some profiles want accredited. `now` in epoch milliseconds.
 */
export async function listProfileProblems(
  file: string,
  env: EnvironmentVariables,
  peers: readonly string[],
  now: number,
): Promise<readonly ProfileProblem[]> {
  try {
    const resolved = resolveProfileSettings(roles, readProfile(file), env, {}, dirname(file))
    if (resolved.problems.length > 0) return resolved.problems
    const { roles: roleNames } = getSettings(resolved, platformSettings)
    const starting = await Promise.all(roles.filter(({ name }) => roleNames.includes(name)).map(loadRole))
    const siteProblems = roleNames.includes(site.name) ? findSiteProblems({ resolved, peers, now }) : []
    return [...findStartProblems({ resolved, known_roles: roles, starting }), ...siteProblems]
  } catch (error) {
    if (error instanceof ProfileError) return error.problems
    throw error
  }
}

/** Settings of the whole site; throws ProfileError for a profile that is not valid. */
export function readSiteSettings(folder: SiteFolder, env: EnvironmentVariables) {
  const resolved = resolveProfile(folder, env)
  if (resolved.problems.length > 0) throw new ProfileError(resolved.problems)
  return {
    resolved,
    platform: getSettings(resolved, platformSettings),
    labels: getSettings(resolved, labelSettings),
    identity: getSettings(resolved, identitySettings),
  }
}

/** The roles that the profile runs, in the order of the list of roles. */
export function listProfileRoles(folder: SiteFolder, env: EnvironmentVariables): RoleOutline[] {
  const { platform } = readSiteSettings(folder, env)
  return roles.filter((role) => platform.roles.includes(role.name))
}

export function buildProfileJsonSchema(): Record<string, unknown> {
  return { $id: 'urn:platform:profile', title: 'Profile of a site', ...buildProfileSchema(roles) }
}

/** Names that are neither a built-in role of tokens nor one of the profile. */
export function findUnknownRoles(folder: SiteFolder, env: EnvironmentVariables, names: readonly string[]): string[] {
  const { identity } = readSiteSettings(folder, env)
  return names.filter((name) => !(name in builtInRoles) && !(name in identity.roles))
}
