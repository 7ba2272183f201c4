// Lists of other roles that the intelligence role reads for events worth a signal. Each output is the part that it reads.
import * as z from 'zod'
import { label } from '../../kernel/label/label.ts'
import { operationContract } from '../../kernel/operation/operation-contract.ts'
import { listFields } from '../../kernel/operation/paging.ts'

const dissentItem = z.object({
  session_id: z.string().min(1).max(128),
  tenant_id: z.string().min(1),
  lens_id: z.string(),
  classification: label,
  created_at: z.iso.datetime(),
  reason: z.string().max(128),
})
export type DissentListItem = z.infer<typeof dissentItem>

export const listDissent = operationContract({
  address: 'consensus.dissent.list',
  input: z.strictObject({
    ...listFields,
    session_id: z.string().max(128).optional(),
    lens_id: z.string().max(256).optional(),
    status: z.enum(['open', 'resolved']).optional(),
  }),
  output: z.object({ items: z.array(dissentItem), next_cursor: z.string().optional() }),
})

const quarantineItem = z.object({
  id: z.string().min(1).max(400),
  peer: z.string().min(1),
  reason: z.string().max(128),
  at: z.string(),
})
export type QuarantineListItem = z.infer<typeof quarantineItem>

export const listQuarantine = operationContract({
  address: 'site.quarantine.list',
  input: z.strictObject({ ...listFields, peer: z.string().max(64).optional() }),
  output: z.object({ items: z.array(quarantineItem), next_cursor: z.string().optional() }),
})

const channelItem = z.object({
  peer: z.string().min(1),
  direction: z.enum(['out', 'in']),
  stale: z.boolean(),
  epoch: z.int(),
  highest_seq: z.int(),
  received: z.int(),
  inventory_at: z.iso.datetime().optional(),
})
export type ChannelListItem = z.infer<typeof channelItem>

export const listChannels = operationContract({
  address: 'site.channel.list',
  input: z.strictObject({}),
  output: z.object({ items: z.array(channelItem) }),
})
