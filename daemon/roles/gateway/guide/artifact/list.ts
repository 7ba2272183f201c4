// Lists artifacts, the one that changed last first.
import * as z from 'zod'
import type { Call } from '../../../../kernel/operation/call.ts'
import { operation } from '../../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../../kernel/operation/paging.ts'
import type { DocumentPage, ListQuery } from '../../../../kernel/store/store.ts'
import { countUsage, usageFields } from './count-usage.ts'
import { type Artifact, artifactStatuses, artifacts } from './model.ts'
import { artifactFields, artifactType, showArtifact } from './view.ts'

const visible_statuses = artifactStatuses.filter((status) => status !== 'forgotten')

/** Of a page with usage: each takes two counts. */
const max_counted = 50

const listedArtifact = z.strictObject({ ...artifactFields, ...usageFields }).meta({ id: 'GuideListedArtifact' })

export const list = operation({
  summary: 'List artifacts of the guidance layer, the one that changed last first',
  method: 'GET',
  path: '/api/v1/guide/artifacts',
  tool: 'guide_list_artifacts',
  surface: 'admin_chat',
  input: z.strictObject({
    ...listFields,
    type: artifactType.optional(),
    status: z.enum(artifactStatuses).optional().meta({ description: 'Default: all but forgotten ones' }),
    service_name: z.string().min(1).max(256).optional(),
    tool_name: z.string().min(1).max(256).optional(),
    actor: z.string().min(1).max(300).optional().meta({ description: 'Of the last change' }),
    usage: z
      .boolean()
      .optional()
      .meta({ description: `True: with attached_count and capped_count, at most ${max_counted} artifacts a page` }),
  }),
  output: pageSchema(listedArtifact).meta({ id: 'GuideArtifactPage' }),
  errors: [],
  allow: 'guide:admin',

  async run(call, { limit, cursor, status, usage = false, ...filters }) {
    const order = { field: 'update_ts', direction: 'desc' } as const
    const query = buildListQuery(filters, usage ? Math.min(limit, max_counted) : limit, cursor, order)
    const filter = { ...query.filter, status: status ?? { in: visible_statuses } }
    const page = await pageInSteps(call, { ...query, filter })
    if (!usage) return page
    const items = page.items.map(async (item) => ({ ...item, ...(await countUsage(call, item.id)) }))
    return { ...page, items: await Promise.all(items) }
  },
})

/** Documents have vectors, which cost time to parse: other work goes on between the steps of a page. */
const step_size = 100

async function pageInSteps(call: Call, query: ListQuery) {
  const store = call.store(artifacts)
  const { docs, next_cursor, ...counted } = await store.page({ ...query, limit: Math.min(step_size, query.limit) })
  const items = docs.map(showArtifact)
  let cursor = next_cursor
  while (cursor !== undefined && items.length < query.limit) {
    await call.pause()
    const limit = Math.min(step_size, query.limit - items.length)
    const step: DocumentPage<Artifact> = await store.list({ ...query, limit, cursor })
    items.push(...step.docs.map(showArtifact))
    cursor = step.next_cursor
  }
  return { items, ...counted, ...(cursor === undefined ? {} : { next_cursor: cursor }) }
}
