// Checks the places of the profile beyond their schema, before the role starts.
import type { RoleDeployment } from '../../../kernel/role/role.ts'
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import { labelSettings } from '../../../kernel/settings/platform-settings.ts'
import { settings } from '../settings.ts'
import type { HttpDataSource } from './model.ts'

type HttpPlace = Pick<HttpDataSource, 'name' | 'url' | 'classification'>

export function findHttpPlacesFault({ settings: resolved, deployment_profile }: RoleDeployment): string | undefined {
  const { levels } = getSettings(resolved, labelSettings)
  const { http_sources, http_targets } = getSettings(resolved, settings)
  const isStrict = deployment_profile === 'classified_airgapped' || deployment_profile === 'coalition_federated'
  const listFaults = (place: HttpPlace) => [
    ...findLevelFault(place, levels),
    ...(isStrict && isPlain(place) ? [`${place.name}: url: must use https in profile ${deployment_profile}`] : []),
  ]
  for (const [setting, places] of Object.entries({ http_sources, http_targets })) {
    const faults = (places as readonly HttpPlace[]).flatMap(listFaults)
    if (faults.length > 0) return `ingest.${setting}: ${faults.join('; ')}`
  }
  return undefined
}

function findLevelFault({ name, classification }: HttpPlace, levels: readonly string[]): string[] {
  const level = typeof classification === 'string' ? classification : classification?.level
  return level === undefined || levels.includes(level) ? [] : [`${name}: "${level}" is not one of labels.levels`]
}

function isPlain({ url }: HttpPlace): boolean {
  return url.startsWith('http:') && !/^http:\/\/(localhost|127\.[0-9.]+|\[::1\])([:/]|$)/.test(url)
}
