// Every federation channel with its sequence, backlog and trouble.
import * as z from 'zod'
import { operation } from '../../../kernel/operation.ts'
import { transportsPart } from '../parts.ts'

const channel = z
  .strictObject({
    transport: z.string(),
    peer: z.string(),
    direction: z.enum(['out', 'in']),
    state: z.enum(['open', 'frozen', 'stopped']),
    epoch: z.int(),
    next_seq: z.int(),
    highest_seq: z.int(),
    gaps: z.int(),
    backlog: z.int(),
    quarantined: z.int(),
    sent: z.int(),
    received: z.int(),
    duplicates: z.int(),
    detail: z.string(),
  })
  .meta({ id: 'Channel' })

export const list = operation({
  summary: 'List federation channels and their state',
  method: 'GET',
  path: '/api/v2/site/channel',
  input: z.strictObject({}),
  output: z.strictObject({ items: z.array(channel) }).meta({ id: 'ChannelList' }),
  errors: ['unavailable'],
  allow: 'channel:read',

  async run(call) {
    const all = call.part(transportsPart).map(async (transport) => {
      const channels = await transport.status()
      return channels.map((status) => ({ transport: transport.name, ...status }))
    })
    return { items: (await Promise.all(all)).flat() }
  },
})
