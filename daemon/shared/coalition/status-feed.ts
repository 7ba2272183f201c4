// The status feed of a coalition: publishing to it, and the contract of the site role.
import * as z from 'zod'
import { type Refusal, refuse } from '../../kernel/error/errors.ts'
import { type Label, label } from '../../kernel/label/label.ts'
import type { Call } from '../../kernel/operation/call.ts'
import { operationContract, throwRefusal } from '../../kernel/operation/operation-contract.ts'
import { type StatusEvent, statusEvent } from './hub-protocol.ts'

/** Durable at the hub when it resolves; a repeated event changes nothing. Throws `Refusal('unavailable')` until then. */
export interface StatusFeed {
  publish(event: StatusEvent): Promise<void>
}

export const publishToCoalition = operationContract({
  address: 'site.coalition.publish',
  input: statusEvent.extend({ label: label.meta({ description: 'Label of the session; it is not sent' }) }),
  output: z.strictObject({ published: z.boolean(), reason: z.string() }).meta({
    id: 'CoalitionPublication',
    description: 'Whether the event is durable at the hub, or why it may not be published',
  }),
})

/** Publishes to the feed; returns a refusal where the label of the session, or the profile, forbids it for good. */
export async function publishStatusEvent(
  { roles }: Call,
  event: StatusEvent,
  session_label: Label,
): Promise<Refusal | undefined> {
  const { published, reason } = await throwRefusal(
    roles.request(publishToCoalition, { ...event, label: session_label }),
  )
  return published ? undefined : refuse('label_denied', `the event may not be published to the coalition: ${reason}`)
}
