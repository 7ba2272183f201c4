// A run of the resolution role over datasets of pipelines: another role starts it, and looks at its state.
import * as z from 'zod'
import type { Refusal } from '../../kernel/error/errors.ts'
import { classification } from '../../kernel/label/label.ts'
import { type ContractInput, operationContract, type RoleClients } from '../../kernel/operation/operation-contract.ts'
import { requiredText } from '../../kernel/operation/required-text.ts'
import { taskDataset } from '../task-dataset/task-dataset.ts'

const shortText = requiredText(256)

/** What a run over datasets has beside them; the resolution role checks it in full. */
export const resolutionTerms = {
  lens_id: shortText.meta({ description: 'uid or name of the lens' }),
  lens_version: shortText.optional().meta({ description: 'Default: the newest version of the name' }),
  threshold: z.number().min(-1_000).max(1_000).optional().meta({
    description: 'Bits from which two records are one entity; default: that of the lens, or one derived from the data',
  }),
  null_penalty: z.number().min(0).max(100).optional().meta({
    description: 'Bits subtracted for a field where one record has no value',
  }),
  id_field: shortText.optional().meta({ description: 'Column of the record id; default: the column of the lens' }),
  accept_poor: z.boolean().optional().meta({
    description: 'Update the registry even if the estimated quality of the result is poor',
  }),
}

const startRun = operationContract({
  address: 'resolution.fusion-run.start',
  input: z.strictObject({
    ...resolutionTerms,
    node_data: z.record(shortText, taskDataset),
    classification,
  }),
  output: z.looseObject({ uid: z.string() }),
})

const resolutionStatus = operationContract({
  address: 'resolution.fusion-run.status',
  input: z.strictObject({ run_id: z.string() }),
  output: z.looseObject({
    state: z.string(),
    held: z.string().optional(),
    failure: z.looseObject({ reason: z.string() }).optional(),
    counts: z.looseObject({ records: z.int(), entities: z.int(), matches: z.int() }).partial(),
    progress: z.looseObject({ phase: z.string(), step: z.string() }).optional(),
  }),
})
export type ResolutionRunStatus = z.output<typeof resolutionStatus.output>

type RoleRequester = { readonly roles: RoleClients }

/** Starts one run for a key, however often it is requested by one principal; returns its id. */
export async function startResolutionRun(
  { roles }: RoleRequester,
  idempotency_key: string,
  input: ContractInput<typeof startRun.input>,
): Promise<{ readonly uid: string } | Refusal> {
  return await roles.request(startRun, input, { idempotency_key })
}

export async function readResolutionRun(
  { roles }: RoleRequester,
  run_id: string,
): Promise<ResolutionRunStatus | Refusal> {
  return await roles.request(resolutionStatus, { run_id })
}
