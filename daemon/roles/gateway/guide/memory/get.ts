// Returns one observation.
import * as z from 'zod'
import { operation } from '../../../../kernel/operation/operation.ts'
import { observations } from '../observation/model.ts'
import { memory, memoryId, showMemory } from './show-memory.ts'

export const get = operation({
  summary: 'Show an observation',
  method: 'GET',
  path: '/api/v1/guide/memories/{id}',
  tool: 'guide_get_memory',
  surface: 'admin_chat',
  input: z.strictObject({ id: memoryId }),
  output: memory,
  errors: ['not_found'],
  allow: 'guide:admin',
  versioned: true,

  async run(call, { id }) {
    return showMemory(await call.store(observations).get(id))
  },
})
