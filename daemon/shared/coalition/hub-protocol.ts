// Messages between a coalition's hub and its nodes: both ends parse by these schemas.
import * as z from 'zod'
import { siteName } from '../../kernel/messaging/statement.ts'

const identifier = z.string().min(1).max(256)

/** Sent by a node when it joins. */
export const nodeRegistration = z.strictObject({
  kind: z.literal('mission_service'),
  site: siteName,
  node_tenant_id: z.string().min(1).max(128).meta({ description: 'The tenant that the site belongs to at home' }),
  description: z.string().max(512),
  capabilities: z.array(identifier).max(64),
})
export type NodeRegistration = z.infer<typeof nodeRegistration>

export const capabilityMessage = z
  .strictObject({
    hosts: z.array(z.literal('consensus_session')).max(8).meta({ description: 'Services at the node' }),
    accepts: z
      .array(z.strictObject({ type: identifier, lens_id: identifier }))
      .max(256)
      .meta({ description: 'Contributions that the node accepts: type and lens' }),
  })
  .meta({ id: 'CapabilityMessage', description: 'Capabilities that a node announces to the others' })
export type CapabilityMessage = z.infer<typeof capabilityMessage>

/** An event of the feed: only ids, lens, state and time of a session. */
export const statusEvent = z.strictObject({
  event_id: z.string().min(1).max(512).meta({ description: 'The same in each repetition of the event' }),
  session_id: z.string().min(1).max(128),
  lens_id: identifier,
  state: z.enum(['RATIFIED', 'WITHDRAWN']),
  at: z.iso.datetime().meta({ description: 'When the session entered the state' }),
})
export type StatusEvent = z.infer<typeof statusEvent>

export const feedEntry = statusEvent
  .extend({ seq: z.int().min(1), node: siteName, published_at: z.iso.datetime() })
  .meta({ id: 'FeedEntry', description: 'One event of the coalition’s status feed; seq has no gaps' })
export type FeedEntry = z.infer<typeof feedEntry>

/** Checks the alphabet and the length only: a regular expression with repeated groups overflows on megabytes. */
const base64 = z
  .string()
  .regex(/^[A-Za-z0-9+/]*={0,2}$/, 'must be base64')
  .refine((text) => text.length % 4 === 0, 'must be base64')

/** A file-drop message on its way: its number, and the exact bytes of both files. */
export const hubMessage = z.strictObject({
  epoch: z.int().min(1).max(99_999_999),
  seq: z.int().min(1).max(Number.MAX_SAFE_INTEGER),
  envelope: base64.max(87_384),
  body: base64,
})

export const queuedHubMessage = hubMessage.extend({
  id: z.string().min(1).max(128),
  from: siteName,
  arrived_at: z.iso.datetime(),
})
