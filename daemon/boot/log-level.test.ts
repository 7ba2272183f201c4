// The level of a role is its own where it is set, by its documented name.
import { expect, test } from 'vitest'
import { platformSettings } from '../kernel/settings/platform-settings.ts'
import { resolveSettings } from '../kernel/settings/settings.ts'
import { settings as ingestSettings } from '../roles/ingest/settings.ts'
import { findLogLevel } from './log-level.ts'

const levelOf = (part: string, env: Readonly<Record<string, string>>) => {
  const profile = { platform: { name: 'alpha', tenant_id: 'acme' } }
  const reading = { resolvePath: (file: string) => file, readSecret: () => '', needsSecrets: () => false }
  return findLogLevel(
    resolveSettings([platformSettings, ingestSettings], { profile, env, flags: {}, ...reading }),
    part,
  )
}

test.each<[string, string, Readonly<Record<string, string>>]>([
  ['info', 'ingest', {}],
  ['debug', 'ingest', { LOG_LEVEL: 'debug' }],
  ['warn', 'ingest', { LOG_LEVEL: 'debug', PIPELINE_LOG_LEVEL: 'warn' }],
  ['debug', 'boot', { LOG_LEVEL: 'debug', PIPELINE_LOG_LEVEL: 'warn' }],
  ['error', 'platform', { LOG_LEVEL: 'error' }],
])('%s for %s with %o', (level, part, env) => {
  expect(levelOf(part, env)).toBe(level)
})
