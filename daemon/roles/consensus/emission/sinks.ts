// Who is told of a session's decision: the sinks of the profile, and the coalition's feed where the label allows it.
import type { Call } from '../../../kernel/call.ts'
import { coalitionSettings, isForFeed } from '../../../kernel/coalition-settings.ts'
import type { Label } from '../../../kernel/label.ts'
import { feedSink, settings } from '../settings.ts'

/** By name, in the order of the profile. */
export function sinksFor(call: Call, label: Label): string[] {
  const named = call.settings(settings).sinks.map((sink) => sink.name)
  return isForFeed(label, call.settings(coalitionSettings), call.site.labels) ? [...named, feedSink] : named
}
