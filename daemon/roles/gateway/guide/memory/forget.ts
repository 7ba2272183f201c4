// Removes an observation for good; statistics of graphs, which hold none of its content, stay.
import * as z from 'zod'
import { operation } from '../../../../kernel/operation/operation.ts'
import { observations } from '../observation/model.ts'
import { memoryId } from './show-memory.ts'

export const forget = operation({
  summary: 'Remove an observation for good',
  method: 'DELETE',
  path: '/api/v1/guide/memories/{id}',
  tool: 'guide_forget_memory',
  surface: 'admin_chat',
  input: z.strictObject({ id: memoryId }),
  output: z.strictObject({ memory_id: z.string() }).meta({ id: 'ForgottenGuideMemory' }),
  errors: ['not_found', 'not_your_tenant'],
  allow: 'guide:admin',

  async run(call, { id }) {
    const store = call.store(observations)
    const doc = await store.find(id)
    const audit = doc && [
      call.audited('gateway.guide.memory.forgotten', id, { trace_id: doc.value.trace_id }, doc.value.label),
    ]
    // One that the caller cannot read is refused there: of another tenant, or missing.
    await store.remove(id, audit, doc?.version ?? 0)
    return { memory_id: id }
  },
})
