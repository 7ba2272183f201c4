// Checks the sources of the profile beyond their schema, before the role starts.
import type { RoleDeployment } from '../../../kernel/role/role.ts'
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import { labelSettings } from '../../../kernel/settings/platform-settings.ts'
import { settings } from '../settings.ts'
import type { HttpDataSource } from './model.ts'

export function findHttpSourcesFault({ settings: resolved, deployment_profile }: RoleDeployment): string | undefined {
  const { levels } = getSettings(resolved, labelSettings)
  const isStrict = deployment_profile === 'classified_airgapped' || deployment_profile === 'coalition_federated'
  const faults = getSettings(resolved, settings).http_sources.flatMap((source) => [
    ...findLevelFault(source, levels),
    ...(isStrict && isPlain(source) ? [`${source.name}: url: must use https in profile ${deployment_profile}`] : []),
  ])
  return faults.length > 0 ? `ingest.http_sources: ${faults.join('; ')}` : undefined
}

function findLevelFault({ name, classification }: HttpDataSource, levels: readonly string[]): string[] {
  const level = typeof classification === 'string' ? classification : classification?.level
  return level === undefined || levels.includes(level) ? [] : [`${name}: "${level}" is not one of labels.levels`]
}

function isPlain({ url }: HttpDataSource): boolean {
  return url.startsWith('http:') && !/^http:\/\/(localhost|127\.[0-9.]+|\[::1\])([:/]|$)/.test(url)
}
