// Compares a changed profile with the current one: settings that a reload applies, and those that need a restart.

import type { StartPlan } from '../../../boot/site-resources.ts'
import { Refusal } from '../../../kernel/error/errors.ts'
import { ProfileError } from '../../../kernel/settings/profile-error.ts'
import type { ResolvedSettings } from '../../../kernel/settings/settings.ts'
import { settings } from '../../../roles/proxy/settings.ts'

/** Settings of the proxy block that each request reads. */
const reloadable: ReadonlySet<string> = new Set<keyof typeof settings.shape>([
  'allowlist',
  'rate_limit_per_min',
  'write_rate_limit_per_min',
  'write_max_body_bytes',
  'trusted_proxy_depth',
  'ipv6_prefix',
  'cors_allow_origin',
  'cache_ttl_s',
  'max_target_bytes',
  'trace_ratio',
  'trace_mode',
  'audit_journal_mb',
])

/** Files of a TLS listener. A reload replaces them, but only a start can turn TLS on or off. */
const tlsPairFields: ReadonlySet<string> = new Set<keyof typeof settings.shape>(['tls_cert_file', 'tls_key_file'])

/** `resolved`: the settings from now on. `applied` and `needs_restart` name the changed ones. */
export type ReloadedSettings = {
  readonly resolved: ResolvedSettings
  readonly applied: string[]
  readonly needs_restart: string[]
}

export async function reloadSettings(
  running: ResolvedSettings,
  resolveAgain: StartPlan['resolveSettingsAgain'],
): Promise<ReloadedSettings | Refusal> {
  try {
    return compareSettings(running, await resolveAgain())
  } catch (error) {
    if (!(error instanceof ProfileError)) throw error
    const errors = error.problems.map(({ path, message }) => ({ path, message }))
    return new Refusal('invalid', 'the profile has faults; nothing was changed', errors)
  }
}

function compareSettings(running: ResolvedSettings, changed: ResolvedSettings): ReloadedSettings {
  const applied: string[] = []
  const needs_restart: string[] = []
  const proxyValues: Record<string, unknown> = { ...running.values.get(settings.name) }
  for (const [section, values] of changed.values) {
    const current = running.values.get(section) ?? {}
    for (const field of new Set([...Object.keys(current), ...Object.keys(values)])) {
      const value = values[field]
      if (JSON.stringify(value) === JSON.stringify(current[field])) continue
      const isPair = tlsPairFields.has(field) && value !== undefined && current[field] !== undefined
      if (section !== settings.name || !(reloadable.has(field) || isPair)) needs_restart.push(`${section}.${field}`)
      else {
        applied.push(`${section}.${field}`)
        proxyValues[field] = value
      }
    }
  }
  const values = new Map(running.values).set(settings.name, proxyValues)
  return { resolved: { ...running, values }, applied: applied.sort(), needs_restart: needs_restart.sort() }
}
