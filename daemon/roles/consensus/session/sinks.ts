// Chooses the sinks of a session's decision: those of the profile, and the coalition's feed where the label allows it.

import type { Call } from '../../../kernel/operation/call.ts'
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import type { ResolvedSettings } from '../../../kernel/settings/settings.ts'
import { coalitionSettings, mayPublishToFeed } from '../../../shared/coalition/coalition-settings.ts'
import { feed_sink_name, settings } from '../settings.ts'
import type { StoredSession } from './model.ts'

/** Names of sinks, in the order of the profile. Peers learn of sessions of the site's own tenant only. */
export function sinksFor(call: Call, { tenant_id, label }: Pick<StoredSession, 'tenant_id' | 'label'>): string[] {
  const sinks = call
    .settings(settings)
    .sinks.filter(({ kind }) => kind !== 'filedrop' || tenant_id === call.site.tenant_id)
  const sinkNames = sinks.map(({ name }) => name)
  return mayPublishToFeed(label, call.settings(coalitionSettings), call.site.labels)
    ? [...sinkNames, feed_sink_name]
    : sinkNames
}

/** Name of a sink in the health of the role. */
export function sinkDependency(sink: string): string {
  return `sink ${sink}`
}

/** Every sink that a decision may be delivered to, by the names of the role's health. */
export function listSinkDependencies(resolved: ResolvedSettings): string[] {
  const sinkNames = getSettings(resolved, settings).sinks.map(({ name }) => name)
  const hasFeed = getSettings(resolved, coalitionSettings).hub_url !== undefined
  return [...sinkNames, ...(hasFeed ? [feed_sink_name] : [])].map(sinkDependency)
}

/** The sinks that apply the session to its match; none for a session about anything else. */
export function matchSinksFor(call: Call, subject: StoredSession['subject']): string[] {
  if (subject?.kind !== 'entity_match' || subject.correlation_id === undefined) return []
  return call.settings(settings).sinks.flatMap(({ name, kind }) => (kind === 'resolution' ? [name] : []))
}
