// Cuts datasets for messages, each in a thread of its own, within the memory of a task.
import { randomBytes } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseJson } from '../../../kernel/encoding/parse-json.ts'
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { Compute } from '../../../kernel/role/compute.ts'
import type { DatasetPart } from '../../../roles/ingest/federation/model.ts'
import type { DatasetCutter } from '../../../roles/ingest/parts.ts'
import { type CutResult, type CutThreadJob, partName } from './cut-dataset.ts'

/** As long as the longest task. */
const limit_ms = 86_400_000

/** `drafts`: a folder that is emptied at each start, on the disk of the datasets. */
export function openDatasetCutter(
  compute: Compute,
  {
    datasets,
    drafts,
    max_memory_mb,
  }: { readonly datasets: string; readonly drafts: string; readonly max_memory_mb: number },
): DatasetCutter {
  return {
    async cut(tenant_id, dataset, signal) {
      const folder = join(drafts, randomBytes(12).toString('hex'))
      const close = () => rm(folder, { recursive: true, force: true })
      const input: CutThreadJob = { cut: folder, datasets, tenant_id, dataset }
      try {
        const made = (await compute.run({
          ...{ input, signal, timeout_ms: limit_ms, report: () => undefined },
          max_memory_bytes: max_memory_mb * 1_048_576,
        })) as CutResult | { readonly reason: string }
        if ('reason' in made) {
          await close()
          return { failure: { reason: made.reason, isFinal: true } }
        }
        const read = async (number: number) =>
          parseJson(await readFile(join(folder, partName(number)))) as DatasetPart['rows']
        return { ...made, read, close }
      } catch (error) {
        await close()
        if (isRefusal(error) && error.code === 'too_large') return { failure: { reason: error.message, isFinal: true } }
        throw error
      }
    },
  }
}
