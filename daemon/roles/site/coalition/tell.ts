// Publishes a session's decision to the coalition's status feed, where a hub is configured and the label allows it.
import { operation } from '../../../kernel/operation/operation.ts'
import { coalitionSettings, mayPublishToFeed } from '../../../shared/coalition/coalition-settings.ts'
import { tellCoalition } from '../../../shared/coalition/status-feed.ts'
import { statusFeedPart } from '../parts.ts'

export const tell = operation({
  summary: 'Publish an event to the status feed of the coalition',
  method: 'POST',
  path: '/api/v2/site/coalition/event',
  input: tellCoalition.input,
  output: tellCoalition.output,
  errors: [],
  allow: 'channel:send',

  async run(call, { label: sessionLabel, ...event }) {
    const settings = call.settings(coalitionSettings)
    if (settings.hub_url === undefined) return { told: false, reason: 'the profile has no hub_url' }
    if (!mayPublishToFeed(sessionLabel, settings, call.site.labels))
      return { told: false, reason: 'the label is above the feed, or not releasable to its readers' }
    await call.part(statusFeedPart).publish(event)
    const { session_id, state } = event
    await call.record([call.audited('site.coalition.tell', event.event_id, { session_id, state }, sessionLabel)])
    return { told: true, reason: 'the hub has it' }
  },
})
