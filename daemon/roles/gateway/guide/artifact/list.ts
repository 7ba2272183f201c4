// Lists artifacts, the one that changed last first.
import * as z from 'zod'
import { operation } from '../../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../../kernel/operation/paging.ts'
import { artifactStatuses, artifacts } from './model.ts'
import { artifactType, artifactView, showArtifact } from './view.ts'

const visible_statuses = artifactStatuses.filter((status) => status !== 'forgotten')

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
  }),
  output: pageSchema(artifactView).meta({ id: 'GuideArtifactPage' }),
  errors: [],
  allow: 'guide:admin',

  async run(call, { limit, cursor, status, ...filters }) {
    const order = { field: 'update_ts', direction: 'desc' } as const
    const query = buildListQuery(filters, limit, cursor, order)
    const filter = { ...query.filter, status: status ?? { in: visible_statuses } }
    const { docs, ...counted } = await call.store(artifacts).page({ ...query, filter })
    return { items: docs.map(showArtifact), ...counted }
  },
})
