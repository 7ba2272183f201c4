// Performs `filter`: leaves out the rows for which the condition does not hold.
import type * as z from 'zod'
import { leaveOutRows } from '../../../kernel/data/check-values.ts'
import type { filter } from '../../../roles/ingest/operator/filter.ts'
import { compileCondition } from './row-condition.ts'
import type { Transform } from './transform.ts'

export const filterRows: Transform<z.output<typeof filter.params>> = async function* ({ inputs, params }) {
  for (const input of inputs) {
    const holds = compileCondition(params.where, input.columns)
    for await (const block of input.blocks()) {
      const left = new Set<number>()
      for (let row = 0; row < block.rows; row++) if (!holds(block, row)) left.add(row)
      yield left.size === 0 ? block : leaveOutRows(block, left)
    }
  }
}
