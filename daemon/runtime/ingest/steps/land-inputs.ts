// Lands what an operator reads: inputs of rows, or nothing where nothing is new.
import type { DataSchema } from '../../../kernel/data/data-schema.ts'
import type { NewsOfSource } from '../connection/database-inputs.ts'
import { type DatasetPlace, landBlocks } from '../landing/land-blocks.ts'
import { type LandingProgress, landFiles } from '../landing/land-files.ts'
import type { LandingInput } from '../landing/landing-input.ts'

export type ProgressReport = (progress: LandingProgress) => void

/** The columns of what has landed before: tasks after it find them. */
export async function landNothing(
  place: DatasetPlace,
  columns: DataSchema,
  { describeCursor }: NewsOfSource,
): Promise<readonly string[]> {
  await landBlocks({
    ...{ ...place, columns, limit: { count: 0 } },
    async *make() {},
    describe: () => ({ inputs: [], cursor: describeCursor([]) }),
  })
  return []
}

export async function landInputs(
  place: DatasetPlace,
  inputs: readonly LandingInput[],
  max_rejects: number,
  report: ProgressReport,
  columns: DataSchema = [],
  news?: NewsOfSource,
): Promise<readonly string[]> {
  const limit = { count: max_rejects }
  const options = { ...place, inputs, columns, limit, describeCursor: news?.describeCursor }
  return (await landFiles({ ...options, runAs: (action) => action() }, report)).remarks
}
