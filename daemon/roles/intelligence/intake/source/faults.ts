// What is wrong with the sources of a profile beyond their form, before anything starts.
import { labelSettings, platformSettings } from '../../../../kernel/platform-settings.ts'
import type { About } from '../../../../kernel/role.ts'
import type { Block, Values } from '../../../../kernel/settings.ts'
import { mappingFaults } from '../mapping/rules.ts'
import { intakeSettings, type Source } from '../settings.ts'

export function sourcesFault(about: About): string | undefined {
  const { levels } = valuesIn(about, labelSettings)
  const { deployment_profile } = valuesIn(about, platformSettings)
  const faults = valuesIn(about, intakeSettings).sources.flatMap((source) => [
    ...mappingFaults(source.mapping).map(({ path, message }) => `${source.name}: mapping.${path}: ${message}`),
    ...labelFault(source, levels),
    ...httpFault(source, deployment_profile),
  ])
  return faults.length > 0 ? `intake.sources: ${faults.join('; ')}` : undefined
}

function labelFault({ name, classification }: Source, levels: readonly string[]): string[] {
  const level = typeof classification === 'string' ? classification : classification?.level
  return level === undefined || levels.includes(level) ? [] : [`${name}: "${level}" is not one of labels.levels`]
}

/** Without an id of its own each item would be raised again with every answer that differs. */
function httpFault(source: Source, deployment_profile: string): string[] {
  if (source.kind !== 'http') return []
  const isPlain =
    source.url.startsWith('http:') && !/^http:\/\/(localhost|127\.[0-9.]+|\[::1\])([:/]|$)/.test(source.url)
  const isStrict = deployment_profile === 'classified_airgapped' || deployment_profile === 'coalition_federated'
  return [
    ...(source.mapping.id === undefined ? [`${source.name}: mapping.id: is required where items are asked for`] : []),
    ...(isPlain && isStrict ? [`${source.name}: url: ${deployment_profile} refuses it without TLS (https)`] : []),
  ]
}

function valuesIn<B extends Block>({ settings }: About, block: B): Values<B> {
  return settings.values.get(block.name) as Values<B>
}
