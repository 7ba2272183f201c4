// Changes the tags and notes of an observation: what was observed itself never changes.
import * as z from 'zod'
import { operation } from '../../../../kernel/operation/operation.ts'
import { observations } from '../observation/model.ts'
import { memory, memoryId, notes, showMemory, tags } from './show-memory.ts'

export const edit = operation({
  summary: 'Change the tags and notes of an observation',
  method: 'PATCH',
  path: '/api/v1/guide/memories/{id}',
  input: z.strictObject({ id: memoryId, tags: tags.optional(), notes: notes.optional() }),
  output: memory,
  errors: ['not_found', 'not_your_tenant', 'precondition_failed'],
  allow: 'guide:admin',
  versioned: true,

  async run(call, { id, ...given }) {
    const now = call.now()
    const { doc } = await call.store(observations).update(id, ({ value }) => ({
      next: { ...value, tags: given.tags ?? value.tags, notes: given.notes ?? value.notes, update_ts: now },
      answer: undefined,
      audit: [call.audited('gateway.guide.memory.edited', id, { trace_id: value.trace_id }, value.label)],
    }))
    return showMemory(doc)
  },
})
