// Returns the evidence block of a ratification, as `platform evidence verify` checks it.
import * as z from 'zod'
import { refuse } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { evidenceBlock, evidenceBlocks } from './model.ts'

export const get = operation({
  summary: 'Get an evidence block',
  method: 'GET',
  path: '/api/v2/consensus/evidence/{block_id}',
  tool: 'consensus_evidence_get',
  input: z.strictObject({ block_id: z.string().min(1).max(128) }),
  output: evidenceBlock,
  errors: ['not_found'],
  allow: 'consensus:read',

  async run(call, { block_id }) {
    const block = await call.store(evidenceBlocks).find(block_id)
    return block ? block.value.block : refuse('not_found', 'there is no such evidence block')
  },
})
