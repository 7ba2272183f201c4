// The signed statement of a message between sites, and the body that travels beside it.
import * as z from 'zod'
import { label } from '../label/label.ts'
import { messageKind } from './message-kind.ts'

export const siteName = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/)
export const hex96 = z.string().regex(/^[0-9a-f]{96}$/)

/** The signed statement, version 1; the envelope is a JWS over its bytes, the body travels beside it. */
export const statement = z.strictObject({
  v: z.literal(1),
  type: z.literal('platform.message'),
  channel: z.string().min(1).max(128),
  src: siteName,
  dst: siteName,
  sender_tenant_id: z.string().min(1).max(128),
  receiver_tenant_id: z.string().min(1).max(128),
  epoch: z.int().min(1).max(99_999_999),
  seq: z.int().min(1).max(Number.MAX_SAFE_INTEGER),
  prev: hex96.meta({ description: 'SHA-384 of the previous statement on this channel and epoch; zeros for the first' }),
  msg_id: z.string().regex(/^msg_[0-9a-f]{32}$/),
  kind: messageKind,
  created: z.iso.datetime(),
  not_after: z.iso.datetime(),
  body: z.strictObject({ sha384: hex96, length: z.int().min(0), schema: z.string().min(1).max(128) }),
  label,
  parent_block_ids: z.array(z.string().regex(/^[0-9a-f]{64}$/)).max(64),
  max_hops: z.int().min(0).max(16),
})
/** In the form of the newest version; `v`: the version in which it was received, or is sent. */
export type Statement = Omit<z.infer<typeof statement>, 'v'> & { readonly v: number }

/**
 * The body that travels beside the envelope: plain JSON that a content filter can read; it repeats label and schema
 * of the statement.
 */
export const messageBody = z.strictObject({
  label,
  schema: z.string().min(1).max(128),
  data: z.record(z.string(), z.unknown()),
})
export type MessageBody = z.infer<typeof messageBody>

/** The body of a message that people released although it lacks its label. */
export const unlabelledBody = messageBody.extend({ label: label.nullish() })
