// How much a role logs: by its own setting, or that of the process.
import type { LogLevel } from '../../adapters/host/log/pino-log.ts'
import { getSettings } from '../kernel/settings/get-settings.ts'
import { logLevel } from '../kernel/settings/listener-settings.ts'
import { platformSettings } from '../kernel/settings/platform-settings.ts'
import type { ResolvedSettings } from '../kernel/settings/settings.ts'

/** `part`: name of a role, or of a part of the site that has no settings of its own. */
export function findLogLevel(resolved: ResolvedSettings, part: string): LogLevel {
  const { data } = logLevel.safeParse(resolved.values.get(part)?.log_level)
  return data ?? getSettings(resolved, platformSettings).log_level
}
