// Checks the sources of a profile beyond their schema, before the role starts.

import type { RoleDeployment } from '../../../kernel/role/role.ts'
import { labelSettings, platformSettings } from '../../../kernel/settings/platform-settings.ts'
import type { SettingsBlock, SettingValues } from '../../../kernel/settings/settings.ts'
import { findMappingFaults } from '../signal-intake/mapping/rules.ts'
import { type IntakeSource, intakeSettings } from '../signal-intake/settings.ts'

export function findSourcesFault(deployment: RoleDeployment): string | undefined {
  const { levels } = settingValues(deployment, labelSettings)
  const { deployment_profile } = settingValues(deployment, platformSettings)
  const faults = settingValues(deployment, intakeSettings).sources.flatMap((source) => [
    ...findMappingFaults(source.mapping).map(({ path, message }) => `${source.name}: mapping.${path}: ${message}`),
    ...findLabelFaults(source, levels),
    ...findHttpFaults(source, deployment_profile),
  ])
  return faults.length > 0 ? `intake.sources: ${faults.join('; ')}` : undefined
}

function findLabelFaults({ name, classification }: IntakeSource, levels: readonly string[]): string[] {
  const level = typeof classification === 'string' ? classification : classification?.level
  return level === undefined || levels.includes(level) ? [] : [`${name}: "${level}" is not one of labels.levels`]
}

/** Without an id, each item would be raised again with every response that differs. */
function findHttpFaults(source: IntakeSource, deployment_profile: string): string[] {
  if (source.kind !== 'http') return []
  const isPlain =
    source.url.startsWith('http:') && !/^http:\/\/(localhost|127\.[0-9.]+|\[::1\])([:/]|$)/.test(source.url)
  const isStrict = deployment_profile === 'classified_airgapped' || deployment_profile === 'coalition_federated'
  return [
    ...(source.mapping.id === undefined ? [`${source.name}: mapping.id: is required together with mapping.items`] : []),
    ...(isPlain && isStrict ? [`${source.name}: url: must use https in profile ${deployment_profile}`] : []),
  ]
}

function settingValues<B extends SettingsBlock>({ settings }: RoleDeployment, block: B): SettingValues<B> {
  return settings.values.get(block.name) as SettingValues<B>
}
