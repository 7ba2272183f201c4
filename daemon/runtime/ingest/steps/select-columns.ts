// Performs `select`: reads the named columns alone.

import type { z } from 'zod'
import type { select } from '../../../roles/ingest/operator/select.ts'
import type { Transform } from './transform.ts'

export const selectColumns: Transform<z.output<typeof select.params>> = async function* ({ inputs, params }) {
  for (const input of inputs) yield* input.blocks(params.columns)
}
