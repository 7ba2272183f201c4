// Lists the observations of the tenant that the administrator may see, the newest first.
import * as z from 'zod'
import { operation } from '../../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../../kernel/operation/paging.ts'
import { eventTypes, observations } from '../observation/model.ts'
import { memory, showMemory } from './show-memory.ts'

export const list = operation({
  summary: 'List observations of calls and chat, the newest first',
  method: 'GET',
  path: '/api/v1/guide/memories',
  tool: 'guide_list_memories',
  surface: 'admin_chat',
  input: z.strictObject({
    ...listFields,
    event_type: z.enum(eventTypes).optional(),
    service: z.string().min(1).max(128).optional(),
    trace_id: z.string().min(1).max(64).optional(),
    conversation_id: z.string().min(1).max(256).optional(),
    needs_review: z.boolean().optional(),
    since: z.iso.datetime({ offset: true }).optional().meta({ description: 'Stored at this time or later' }),
    until: z.iso.datetime({ offset: true }).optional().meta({ description: 'Stored before this time' }),
    oldest_first: z.boolean().optional().meta({ description: 'The other way round, as a replay needs them' }),
  }),
  output: pageSchema(memory).meta({ id: 'GuideMemoryPage' }),
  errors: [],
  allow: 'guide:admin',

  async run(call, { limit, cursor, since, until, oldest_first = false, ...filters }) {
    const order = { field: 'create_ts', direction: oldest_first ? 'asc' : 'desc' } as const
    const query = buildListQuery(filters, limit, cursor, order)
    const within = {
      ...(since === undefined ? {} : { gte: Date.parse(since) }),
      ...(until === undefined ? {} : { lt: Date.parse(until) }),
    }
    const filter = { ...query.filter, ...(Object.keys(within).length > 0 ? { create_ts: within } : {}) }
    const { docs, ...counted } = await call.store(observations).page({ ...query, filter })
    return { items: docs.map(showMemory), ...counted }
  },
})
