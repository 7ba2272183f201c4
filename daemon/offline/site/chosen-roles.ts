// The roles that a new site is to run, written into its profile in place of those of the shipped profile.
import { nearestWord } from '../../kernel/error/nearest-word.ts'
import { internal_port_offset } from '../../kernel/role/configured-listener.ts'
import type { RoleOutline } from '../../kernel/role/role.ts'
import { roles } from '../../roles.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { hasValue, withValue } from './profile-template.ts'

/**
 * The text of a profile that runs these roles, each with a section of its own. Throws `OfflineCommandError` (2) for a
 * role that does not exist, one that is named twice, and one without a role that it needs.
 */
export function withChosenRoles(text: string, names: readonly string[]): string {
  const chosen = names.map(findRole)
  refuseRepeated(names)
  refuseUnmetNeeds(chosen, names)
  return chosen.reduce(withRoleSection, withValue(text, 'platform', 'roles', names))
}

function findRole(name: string): RoleOutline {
  const known = roles.map((role) => role.name)
  const found = roles.find((role) => role.name === name)
  if (found) return found
  const remedy = `did you mean "${nearestWord(name, known)}"? The roles are ${known.join(', ')}`
  throw new OfflineCommandError(2, `the role "${name}" does not exist`, remedy)
}

function refuseRepeated(names: readonly string[]): void {
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated) throw new OfflineCommandError(2, `the role "${repeated}" is named twice`)
}

function refuseUnmetNeeds(chosen: readonly RoleOutline[], names: readonly string[]): void {
  for (const { name, needs } of chosen) {
    const missing = needs.filter((needed) => !names.includes(needed))
    if (missing.length === 0) continue
    const remedy = `use --roles ${[...missing, ...names].join(',')}`
    throw new OfflineCommandError(2, `the role "${name}" needs ${missing.join(', ')}`, remedy)
  }
}

/** A role that the profile places stays there. A new one has an internal listener if other roles have one. */
function withRoleSection(text: string, { name, listeners: [listener] }: RoleOutline): string {
  if (!listener || hasValue(text, name, 'port')) return text
  const isMetricsInternal = roles.some((role) => hasValue(text, role.name, 'metrics_listen'))
  const metricsAddress = `127.0.0.1:${listener.port + internal_port_offset}`
  const withMetrics = isMetricsInternal ? withValue(text, name, 'metrics_listen', metricsAddress) : text
  return withValue(withValue(withMetrics, name, 'port', listener.port), name, 'listen', '127.0.0.1')
}
