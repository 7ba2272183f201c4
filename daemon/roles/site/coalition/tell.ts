// Tells the coalition's status feed of a session's decision, where a hub is named and the label allows it.
import * as z from 'zod'
import { label } from '../../../kernel/label/label.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { coalitionSettings, mayPublishToFeed } from '../../../shared/coalition/coalition-settings.ts'
import { statusEvent } from '../../../shared/coalition/hub-protocol.ts'
import { statusFeedPart } from '../parts.ts'

export const tell = operation({
  summary: 'Tell the status feed of the coalition',
  method: 'POST',
  path: '/api/v2/site/coalition/event',
  input: statusEvent.extend({ label: label.meta({ description: 'That of the session; it is not sent' }) }),
  output: z
    .strictObject({ told: z.boolean(), reason: z.string() })
    .meta({ id: 'ToldCoalition', description: 'Durable at the hub, or why it may never be told' }),
  errors: [],
  allow: 'channel:send',

  async run(call, { label: held, ...event }) {
    const settings = call.settings(coalitionSettings)
    if (settings.hub_url === undefined) return { told: false, reason: 'the profile names no hub' }
    if (!mayPublishToFeed(held, settings, call.site.labels))
      return { told: false, reason: 'the label is above the feed, or not releasable to its readers' }
    await call.part(statusFeedPart).publish(event)
    const { session_id, state } = event
    await call.record([call.audited('site.coalition.tell', event.event_id, { session_id, state }, held)])
    return { told: true, reason: 'the hub has it' }
  },
})
