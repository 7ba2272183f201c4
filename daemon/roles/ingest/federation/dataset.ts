// Accepts a part of a dataset of a peer: it waits with the others of its set until a pipeline with a landing zone takes them.
import * as z from 'zod'
import { refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { runInSlices } from '../../../kernel/role/run-in-slices.ts'
import {
  checkAddressee,
  type VerifiedFederationMessage,
} from '../../../shared/federation-message/federation-message.ts'
import { federationOperation } from '../../../shared/federation-message/federation-operation.ts'
import { incomingSetsPart } from '../landing-zone/incoming-sets.ts'
import { type DatasetPart, dataset_part_schema, datasetPart, max_part_line_bytes } from './model.ts'
import { renderLines } from './row-lines.ts'

export const takeDataset = federationOperation({
  summary: 'Accept a part of a dataset of a peer',
  path: '/api/v2/federation/dataset',
  kind: 'dataset',
  data: datasetPart,
  output: z.strictObject({ set_id: z.string(), number: z.int() }).meta({ id: 'DatasetPartTaken' }),
  errors: ['not_found', 'signature_invalid', 'not_your_tenant', 'label_denied', 'already_exists'],
  readObjectId: ({ set_id }) => set_id,
  run: storePart,
})

async function storePart(call: Call, { statement, label, data }: VerifiedFederationMessage<DatasetPart>) {
  const refusal = checkAddressee(call, statement)
  if (refusal) return refusal
  if (statement.body.schema !== dataset_part_schema)
    return refuse('invalid', `the schema of the body is not ${dataset_part_schema}`)
  const { set_id, name, number, parts, total_rows, sha256, columns, rows } = data
  const set = { peer: statement.src, set_id, name, parts, total_rows, sha256, columns, label }
  const lines = await runInSlices(call, renderLines(columns, rows))
  if (lines === undefined)
    return refuse('invalid', `the rows have more than ${max_part_line_bytes} bytes as JSON lines: send fewer in a part`)
  const taken = await call.part(incomingSetsPart).take(statement.receiver_tenant_id, set, number, lines)
  if (taken === 'differs')
    return refuse('already_exists', `another part of the set ${set_id} has described it otherwise`)
  if (taken === 'too_large')
    return refuse('invalid', `the set ${set_id} is larger than a file in a landing zone (ingest.landing_max_file_mb)`)
  call.wake('landing-zones')
  return { set_id, number }
}
