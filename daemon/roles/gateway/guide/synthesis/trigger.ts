// Requests a synthesis for the tenant of an administrator: all that has settled is mined at once.
import * as z from 'zod'
import { operation } from '../../../../kernel/operation/operation.ts'
import { learn_worker } from '../learning/learner.ts'
import { learningPart } from '../learning/parts.ts'

export const trigger = operation({
  summary: 'Mine guidance from what was observed, without waiting for further traces',
  method: 'POST',
  path: '/api/v1/guide/learn',
  tool: 'guide_trigger_synthesis',
  surface: 'admin_chat',
  input: z.strictObject({}),
  output: z
    .strictObject({ traces: z.int().meta({ description: 'Number of traces in memory that it is mined from' }) })
    .meta({ id: 'GuideSynthesis' }),
  errors: [],
  allow: 'guide:admin',
  status: 202,

  async run(call) {
    const learner = call.part(learningPart)
    const { tenant_id } = call.caller
    learner.requested.add(tenant_id)
    call.wake(learn_worker)
    const windows = learner.windows.filter(({ scope }) => scope.tenant_id === tenant_id)
    return { traces: windows.reduce((sum, { size }) => sum + size, 0) }
  },
})
