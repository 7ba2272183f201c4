// Reads the documents of a run's folder: its summary, its model and its inputs. Each may come from anywhere.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { runAsInvoker } from '../../../boot/host/act-as-owner.ts'
import { parseJson } from '../../../kernel/encoding/parse-json.ts'
import { formatFieldErrors, parseWithSchema } from '../../../kernel/error/parsing.ts'
import { resultQuality } from '../../../roles/resolution/fusion-run/result-quality.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'
import { readInputFile } from '../../read-input-file.ts'
import { type RunInputs, run_inputs_name, runInputs } from './run-inputs.ts'
import { type RunModel, run_model_format, run_model_name, runModel } from './run-model.ts'

const count = z.int().min(0)
const text = z.string().max(4_096)

const blockingRule = z.object({
  rule: text,
  pairs: count,
  blocks: count,
  largest: count,
  left_out: z.array(z.object({ key: text, records: count })).max(1_000),
  left_out_count: count,
})

/** The part of a summary that is read again; other members are ignored. */
const runSummary = z.object({
  lens: text,
  version: text,
  route: z.enum(['clusters', 'links']),
  seed: z.number(),
  sources: z.array(z.object({ name: text, records: count })).max(10_000),
  records: count,
  pairs_compared: count,
  rules: z.array(blockingRule).max(1_000),
  quality: resultQuality,
  entities: count,
  clusters: count,
  records_in_clusters: count,
  pairs: z.enum(['all', 'near']),
})
export type RunSummary = z.infer<typeof runSummary>

export type RunDocuments = { readonly summary: RunSummary; readonly model: RunModel; readonly inputs: RunInputs }

/** Larger than any document of a run. */
const max_bytes = 16_777_216
const run_again = 'run it again into a new folder: `platform resolve run --lens LENS --data FILE --out DIR`'

/** Reads the documents. Throws `OfflineCommandError` (1) for a folder without a completed run, or of an earlier version. */
export function readRunDocuments(folder: string): RunDocuments {
  const has = (name: string) => runAsInvoker(() => existsSync(join(folder, name)))
  if (!has('run.json'))
    throw new OfflineCommandError(1, `${folder} has no run.json: no run was completed there`, run_again)
  for (const name of [run_model_name, run_inputs_name])
    if (!has(name))
      throw new OfflineCommandError(1, `${folder} has no ${name}: an earlier version ran there`, run_again)
  return {
    summary: readDocument(join(folder, 'run.json'), runSummary),
    model: readDocument(join(folder, run_model_name), runModel),
    inputs: readDocument(join(folder, run_inputs_name), runInputs),
  }
}

/** A model before scores were written in bits; the other documents have had no other format. */
const earlierFormat = z.looseObject({ format: z.int().min(1).lt(run_model_format), scale: z.string() })

function readDocument<S extends z.ZodType>(file: string, schema: S): z.output<S> {
  const value = parseJson(readInputFile(file, max_bytes))
  if (value === undefined) throw new OfflineCommandError(1, `${file} is not JSON`, run_again)
  const parsed = parseWithSchema(schema, value)
  if (parsed.success) return parsed.data
  if (earlierFormat.safeParse(value).success)
    throw new OfflineCommandError(1, `${file} is of an earlier version, whose scores had another unit`, run_again)
  throw new OfflineCommandError(1, `${file} is not as a run writes it: ${formatFieldErrors(parsed.errors)}`, run_again)
}
