// Performs an operator that makes a dataset of datasets: opens its inputs, derives the columns, and lands its rows.
import * as z from 'zod'
import type { DataBlock } from '../../../kernel/data/data-block.ts'
import type { DataSchema } from '../../../kernel/data/data-schema.ts'
import type { DatasetCheck } from '../../../kernel/data/landed-dataset.ts'
import { columnSetOf, schemaOf } from '../../../roles/ingest/operator/column-set.ts'
import type { Operator } from '../../../roles/ingest/operator/operator.ts'
import type { TaskOutcome } from '../../../roles/ingest/parts.ts'
import { type DatasetPlace, landBlocks, type MadeBlock } from '../landing/land-blocks.ts'
import { LandingError } from '../landing/landing-error.ts'
import type { RejectLimit } from '../landing/reject-limit.ts'
import type { RejectReason } from '../landing/reject-log.ts'
import type { TaskThreadJob } from '../thread-job.ts'
import { inputFolder, landOnce } from './dataset-store.ts'
import { openStepInput, type StepInput } from './step-input.ts'

export type TransformStep<P> = {
  readonly params: P
  readonly inputs: readonly StepInput[]
  /** The columns of the blocks that it makes. */
  readonly columns: DataSchema
  /** Leaves a row of an input out, with the reason. */
  reject(reason: Omit<RejectReason, 'place'>, block: DataBlock, row: number): void
  /** Describes a rule by which rows were tested, once all were. */
  addCheck(check: DatasetCheck): void
}

/** Makes the rows of the dataset. A block is valid until the next one is requested. */
export type Transform<P> = (step: TransformStep<P>) => AsyncIterable<MadeBlock>

/** Faults that a log names. */
const max_faults = 20

const rejectParams = z.looseObject({ max_rejects: z.int().optional() })

export async function performTransform<P extends z.ZodType>(
  job: TaskThreadJob,
  operator: Operator<P>,
  transform: Transform<z.output<P>>,
): Promise<TaskOutcome> {
  const params = operator.params.parse(job.task.params)
  return await landOnce(job, async (place) => {
    const inputs: StepInput[] = []
    try {
      for (const summary of job.inputs) inputs.push(openStepInput(inputFolder(job, summary), summary))
      await landTransform(place, { operator, params, inputs }, transform)
    } finally {
      for (const input of inputs) input.close()
    }
    return inputs.map(({ name, summary: { rows } }) => `took ${rows} rows of ${name}`)
  })
}

type OpenTransform<P extends z.ZodType> = {
  readonly operator: Operator<P>
  readonly params: z.output<P>
  readonly inputs: readonly StepInput[]
}

async function landTransform<P extends z.ZodType>(
  place: DatasetPlace,
  { operator, params, inputs }: OpenTransform<P>,
  transform: Transform<z.output<P>>,
): Promise<void> {
  const columns = deriveSchema({ operator, params, inputs })
  const { max_rejects: count = Number.POSITIVE_INFINITY } = rejectParams.parse(params)
  const limit: RejectLimit = { count }
  const checks: DatasetCheck[] = []
  await landBlocks({
    ...{ ...place, columns, limit },
    make(rejects) {
      rejects.beginInput(inputs[0]?.name ?? '', 'row')
      return transform({
        ...{ params, inputs, columns },
        reject: (reason, block, row) => rejects.addRow({ ...reason, place: block.lines?.[row] }, block, row),
        addCheck: (check) => checks.push(check),
      })
    },
    describe: (rejects) => ({
      inputs: inputs.map((input, at) => describeInput(input, at === 0 ? rejects : 0)),
      ...(checks.length > 0 && { checks }),
    }),
  })
}

/** Throws `LandingError` for a column that an input lacks, or that has a type which the operator does not take. */
function deriveSchema<P extends z.ZodType>({ operator, params, inputs }: OpenTransform<P>): DataSchema {
  const derived = operator.deriveColumns?.(
    params,
    inputs.map(({ columns }) => columnSetOf(columns)),
  )
  if (!derived) throw new Error('the operator makes no columns')
  if (derived.faults.length === 0) return schemaOf(derived.columns)
  const [first = '', ...rest] = derived.faults
    .slice(0, max_faults)
    .map(({ path, message }) => `params.${path}: ${message}`)
  throw new LandingError(first, undefined, rest)
}

function describeInput({ name, summary: { bytes, digest, rows } }: StepInput, rejects: number) {
  return { name, bytes, sha256: digest, read_as: { format: 'dataset' }, rows: rows - rejects, rejects }
}
