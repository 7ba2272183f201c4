// A captured response of a service: how it is stored as a dataset of one row, and read again.

import { readText } from '../../../kernel/data/check-values.ts'
import { TextColumnBuilder } from '../../../kernel/data/data-block.ts'
import type { DataSchema } from '../../../kernel/data/data-schema.ts'
import { parseJson } from '../../../kernel/encoding/parse-json.ts'
import type { LandedSummary } from '../../../roles/ingest/dataset/model.ts'
import type { JsonValue } from '../../../roles/ingest/journey-test/key-path.ts'
import { type DatasetPlace, landBlocks, type MadeBlock } from '../landing/land-blocks.ts'
import { LandingError } from '../landing/landing-error.ts'
import { inputFolder } from '../steps/dataset-store.ts'
import { openStepInput } from '../steps/step-input.ts'
import type { TaskThreadJob } from '../thread-job.ts'

/** `status`: absent for a tool, `is_error`: of a tool, or a status from 400 on. */
export type CapturedResponse = {
  readonly request: string
  readonly status?: number | undefined
  readonly is_error: boolean
  readonly media_type?: string | undefined
  readonly body: string
  readonly duration_ms: number
}

const responseColumns: DataSchema = [
  { name: 'request', type: 'text' },
  { name: 'status', type: 'int32' },
  { name: 'is_error', type: 'boolean' },
  { name: 'media_type', type: 'text' },
  { name: 'body', type: 'text' },
  { name: 'duration_ms', type: 'int64' },
]

/** `origin`: what the dataset is made of, as its lineage names it. */
export async function landResponse(
  place: DatasetPlace,
  response: CapturedResponse,
  origin: { readonly name: string; readonly bytes: number; readonly sha256: string },
): Promise<void> {
  await landBlocks({
    ...{ ...place, columns: responseColumns, limit: { count: 0 } },
    async *make() {
      yield blockOf(response)
    },
    describe: () => ({
      inputs: [{ ...origin, is_source: true, read_as: { format: 'response' }, rows: 1, rejects: 0 }],
    }),
  })
}

function blockOf({ request, status, is_error, media_type, body, duration_ms }: CapturedResponse): MadeBlock {
  const texts = [request, status?.toString(), `${is_error}`, media_type, body, `${duration_ms}`]
  const columns = responseColumns.map(({ name }, at) => {
    const builder = new TextColumnBuilder(name)
    builder.add(texts[at])
    return builder.column()
  })
  return { rows: 1, names: responseColumns.map(({ name }) => name), columns }
}

export type ReadResponse = {
  readonly request: string
  readonly status: number | undefined
  /** Undefined where the body is not JSON. */
  readonly body: JsonValue | undefined
}

/** Throws `LandingError` for a dataset that is not a response. */
export async function readResponse(job: TaskThreadJob, summary: LandedSummary): Promise<ReadResponse> {
  const input = openStepInput(inputFolder(job, summary), summary)
  try {
    const names = ['request', 'status', 'body']
    const isResponse = names.every((name) => input.columns.some((column) => column.name === name))
    if (!isResponse || summary.rows !== 1)
      throw new LandingError(`the dataset of the task ${input.name} is not a response of test_call`)
    for await (const block of input.blocks(names)) {
      const [request, status, body] = block.columns.map((column) => readText(column, 0))
      if (block.rows === 0) continue
      return {
        request: request ?? '',
        status: status === undefined ? undefined : Number(status),
        body: parseJson(body ?? '') as JsonValue | undefined,
      }
    }
    throw new LandingError(`the dataset of the task ${input.name} has no response`)
  } finally {
    input.close()
  }
}
