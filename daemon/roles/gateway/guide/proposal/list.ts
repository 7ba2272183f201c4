// Lists proposals, the newest first.
import * as z from 'zod'
import { operation } from '../../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../../kernel/operation/paging.ts'
import { artifactType } from '../artifact/view.ts'
import { proposalStatuses, proposals } from './model.ts'
import { proposalView, showProposal } from './view.ts'

export const list = operation({
  summary: 'List proposals of artifacts, the newest first',
  method: 'GET',
  path: '/api/v1/guide/proposals',
  input: z.strictObject({
    ...listFields,
    status: z.enum(proposalStatuses).optional(),
    artifact_type: artifactType.optional(),
  }),
  output: pageSchema(proposalView).meta({ id: 'GuideProposalPage' }),
  errors: [],
  allow: 'guide:admin',

  async run(call, { limit, cursor, ...filters }) {
    const order = { field: 'create_ts', direction: 'desc' } as const
    const { docs, ...counted } = await call.store(proposals).page(buildListQuery(filters, limit, cursor, order))
    return { items: docs.map(showProposal), ...counted }
  },
})
