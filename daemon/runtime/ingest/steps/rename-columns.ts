// Performs `rename`: the values stay where they are.
import type * as z from 'zod'
import type { rename } from '../../../roles/ingest/operator/rename.ts'
import type { Transform } from './transform.ts'

export const renameColumns: Transform<z.output<typeof rename.params>> = async function* ({ inputs, columns }) {
  for (const input of inputs)
    for await (const block of input.blocks())
      yield { ...block, columns: block.columns.map((column, at) => ({ ...column, name: columns[at]?.name ?? '' })) }
}
