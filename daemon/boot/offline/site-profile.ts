// The profile of a site as commands see it: settled like boot settles it, so that both judge alike.

import { everyRole } from '../../every-role.ts'
import { builtInRoles } from '../../kernel/identity.ts'
import { identitySettings, labelSettings, platformSettings } from '../../kernel/platform-settings.ts'
import type { Role } from '../../kernel/role.ts'
import type { Resolved } from '../../kernel/settings.ts'
import { startProblems } from '../may-start.ts'
import { ProfileError, type ProfileProblem, profileSchema, readProfile, settle, valuesOf } from '../profile.ts'
import type { SiteFolder } from '../site-folder.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** Every setting with its origin, and every fault. Throws ProfileError only when the file cannot be read at all. */
export function settledProfile(folder: SiteFolder, env: Environment): Resolved {
  return settle(everyRole, readProfile(folder.profile), env, {})
}

/**
 * All faults of the profile, unreadable YAML included; empty when a start would accept it. `peers`: names of those
 * enrolled, whose channels some profiles want accredited. `now` in epoch milliseconds.
 */
export function profileProblems(
  file: string,
  env: Environment,
  peers: readonly string[],
  now: number,
): readonly ProfileProblem[] {
  try {
    const resolved = settle(everyRole, readProfile(file), env, {})
    if (resolved.problems.length > 0) return resolved.problems
    const { roles: wanted } = valuesOf(resolved, platformSettings)
    const starting = everyRole.filter((role) => wanted.includes(role.name))
    return startProblems({ resolved, all: everyRole, starting, peers, now })
  } catch (error) {
    if (error instanceof ProfileError) return error.problems
    throw error
  }
}

/** Settings of the whole site; throws ProfileError for a profile that cannot be used. */
export function siteSettings(folder: SiteFolder, env: Environment) {
  const resolved = settledProfile(folder, env)
  if (resolved.problems.length > 0) throw new ProfileError(resolved.problems)
  return {
    resolved,
    platform: valuesOf(resolved, platformSettings),
    labels: valuesOf(resolved, labelSettings),
    identity: valuesOf(resolved, identitySettings),
  }
}

/** The roles that the profile runs, in the order of the list of roles. */
export function rolesOf(folder: SiteFolder, env: Environment): Role[] {
  const { platform } = siteSettings(folder, env)
  return everyRole.filter((role) => platform.roles.includes(role.name))
}

export function jsonSchema(): Record<string, unknown> {
  return { $id: 'urn:platform:profile', title: 'Profile of a site', ...profileSchema(everyRole) }
}

/** Those of the names that are no role of the identity provider, built in or of the profile. */
export function unknownRoles(folder: SiteFolder, env: Environment, names: readonly string[]): string[] {
  const { identity } = siteSettings(folder, env)
  return names.filter((name) => !(name in builtInRoles) && !(name in identity.roles))
}
