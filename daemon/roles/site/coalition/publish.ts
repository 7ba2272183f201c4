// Publishes a session's decision to the coalition's status feed, where a hub is configured and the label allows it.
import { operation } from '../../../kernel/operation/operation.ts'
import { coalitionSettings, mayPublishToFeed } from '../../../shared/coalition/coalition-settings.ts'
import { publishToCoalition } from '../../../shared/coalition/status-feed.ts'
import { statusFeedPart } from '../parts.ts'

export const publish = operation({
  summary: 'Publish an event to the status feed of the coalition',
  method: 'POST',
  path: '/api/v2/site/coalition/event',
  input: publishToCoalition.input,
  output: publishToCoalition.output,
  errors: [],
  allow: 'channel:send',

  async run(call, { label: sessionLabel, ...event }) {
    const settings = call.settings(coalitionSettings)
    if (settings.hub_url === undefined)
      return { published: false, reason: 'the profile does not set coalition.hub_url' }
    if (!mayPublishToFeed(sessionLabel, settings, call.site.labels))
      return { published: false, reason: 'the label is above the level of the feed, or not releasable to its readers' }
    await call.part(statusFeedPart).publish(event)
    const { session_id, state } = event
    await call.record([call.audited('site.coalition.publish', event.event_id, { session_id, state }, sessionLabel)])
    return { published: true, reason: 'the hub has stored the event' }
  },
})
