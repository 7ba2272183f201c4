// The message of a signal between sites: schema signal/1.
import * as z from 'zod'
import { signalInputFields, source } from '../signal/model.ts'
import { itemFields } from '../signal-intake/item/model.ts'

export const signalSchema = 'signal/1'

/** The actor is the peer: data about people stays at its site. */
export const signalMessage = itemFields.omit({ actor: true, reference: true }).extend({
  event_id: z.string().min(1).max(256).meta({ description: 'ID at the sender; a repeat changes nothing' }),
  source,
  detected_at: signalInputFields.detected_at,
})
export type SignalMessage = z.infer<typeof signalMessage>
