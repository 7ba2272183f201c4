// Chooses the sinks of a session's decision: those of the profile, the role resolution for its matches, and the coalition's
// feed where the label allows it.

import type { Call } from '../../../kernel/operation/call.ts'
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import type { ResolvedSettings } from '../../../kernel/settings/settings.ts'
import { coalitionSettings, mayPublishToFeed } from '../../../shared/coalition/coalition-settings.ts'
import { listSiteRoles } from '../../../shared/routing/role-urls.ts'
import { type EmissionSink, feed_sink_name, resolution_sink_name, settings } from '../settings.ts'
import type { StoredSession } from './model.ts'

/** All sinks, in the order of the profile. Where the site runs resolution, its matches hear their rulings unasked. */
function completeSinks(sinks: readonly EmissionSink[], roles: ReadonlySet<string>): readonly EmissionSink[] {
  const isComplete = !roles.has('resolution') || sinks.some(({ kind }) => kind === 'resolution')
  return isComplete ? sinks : [...sinks, { name: resolution_sink_name, kind: 'resolution' }]
}

function listSinks(call: Call): readonly EmissionSink[] {
  return completeSinks(
    call.settings(settings).sinks,
    listSiteRoles((block) => call.settings(block)),
  )
}

export function findSink(call: Call, sinkName: string): EmissionSink | undefined {
  return listSinks(call).find(({ name }) => name === sinkName)
}

/**
 * Names of the sinks of a session. Only sessions about matches have something to apply for the role resolution, and peers
 * learn of sessions of the site's own tenant only.
 */
export function sinksFor(call: Call, { tenant_id, label, ...session }: SinkChoice): string[] {
  const matchSinks = matchSinksFor(call, session)
  const isOfSite = tenant_id === call.site.tenant_id
  const sinkNames = listSinks(call).flatMap(({ name, kind }) => {
    if (kind === 'resolution' && !matchSinks.includes(name)) return []
    return kind === 'filedrop' && !isOfSite ? [] : [name]
  })
  return mayPublishToFeed(label, call.settings(coalitionSettings), call.site.labels)
    ? [...sinkNames, feed_sink_name]
    : sinkNames
}

type SinkChoice = Pick<StoredSession, 'tenant_id' | 'label' | 'subject' | 'origin'>

/** Name of a sink in the health of the role. */
export function sinkDependency(sink: string): string {
  return `sink ${sink}`
}

/** Every sink that a decision may be delivered to, by the names of the role's health. */
export function listSinkDependencies(resolved: ResolvedSettings): string[] {
  const roles = listSiteRoles((block) => getSettings(resolved, block))
  const sinkNames = completeSinks(getSettings(resolved, settings).sinks, roles).map(({ name }) => name)
  const hasFeed = getSettings(resolved, coalitionSettings).hub_url !== undefined
  return [...sinkNames, ...(hasFeed ? [feed_sink_name] : [])].map(sinkDependency)
}

/** The sinks that apply the session to its match; none for a session about anything else, or about a match of a peer. */
export function matchSinksFor(call: Call, { subject, origin }: Pick<StoredSession, 'subject' | 'origin'>): string[] {
  if (origin || subject?.kind !== 'entity_match' || subject.correlation_id === undefined) return []
  return listSinks(call).flatMap(({ name, kind }) => (kind === 'resolution' ? [name] : []))
}
