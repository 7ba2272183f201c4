// Chooses the sinks of a session's decision: those of the profile, and the coalition's feed where the label allows it.

import type { Label } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { coalitionSettings, mayPublishToFeed } from '../../../shared/coalition/coalition-settings.ts'
import { feed_sink_name, settings } from '../settings.ts'
import type { StoredSession } from './model.ts'

/** Names of sinks, in the order of the profile. */
export function sinksFor(call: Call, label: Label): string[] {
  const sinkNames = call.settings(settings).sinks.map((sink) => sink.name)
  return mayPublishToFeed(label, call.settings(coalitionSettings), call.site.labels)
    ? [...sinkNames, feed_sink_name]
    : sinkNames
}

/** The sinks that apply the session to its match; none for a session about anything else. */
export function matchSinksFor(call: Call, subject: StoredSession['subject']): string[] {
  if (subject?.kind !== 'entity_match' || subject.correlation_id === undefined) return []
  return call.settings(settings).sinks.flatMap(({ name, kind }) => (kind === 'resolution' ? [name] : []))
}
