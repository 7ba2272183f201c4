// Lists the most frequent denials since the role started: they show gaps of an allowlist, and attacks.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { denialsPart } from '../parts.ts'
import { requestRecord } from '../record/model.ts'

const denial = z
  .strictObject({
    ...requestRecord.pick({ reason: true, method: true, path: true }).shape,
    count: z.int().min(1),
    at_most_over: z.int().min(0).meta({ description: 'Maximum overestimate of the count; the count is never too low' }),
    last_at: z.iso.datetime(),
    last_source: z.string(),
  })
  .meta({ id: 'ProxyDenial' })

export const list = operation({
  summary: 'List the most frequent denials since the role started',
  method: 'GET',
  path: '/api/v2/proxy/denial',
  input: z.strictObject({
    limit: z.int().min(1).max(256).default(20).meta({ description: 'Most items' }),
  }),
  output: z
    .strictObject({ since: z.iso.datetime(), total: z.int().min(0), items: z.array(denial) })
    .meta({ id: 'ProxyDenials' }),
  errors: [],
  allow: 'proxy:read',

  async run(call, { limit }) {
    const { since, top } = call.part(denialsPart)
    return { since, total: top.total, items: top.top(limit) }
  },
})
