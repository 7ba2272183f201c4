// Performs `write`: the file has its name once all of it is on disk.

import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openDataFile } from '../../../../adapters/platform/data-file/data-file.ts'
import { inferDataKind, resultKinds } from '../../../../adapters/platform/data-file/data-kinds.ts'
import { safeFolderName } from '../../../../adapters/platform/data-file/datasets-folder.ts'
import { writeDataFile } from '../../../../adapters/platform/data-file/write-data-file.ts'
import { syncFolder } from '../../../../adapters/platform/durable-file/sync-folder.ts'
import { runningDigest } from '../../../kernel/encoding/running-digest.ts'
import { write } from '../../../roles/ingest/operator/write.ts'
import type { TaskOutcome } from '../../../roles/ingest/parts.ts'
import { LandingError } from '../landing/landing-error.ts'
import type { TaskThreadJob } from '../thread-job.ts'
import { inputFolder } from './dataset-store.ts'
import { openStepInput } from './step-input.ts'

const piece_bytes = 1 << 22

export async function writeOutput(job: TaskThreadJob): Promise<TaskOutcome> {
  const { file } = write.params.parse(job.task.params)
  const kind = resultKinds.find((each) => each === inferDataKind(file))
  const [summary] = job.inputs
  if (!kind || !summary) throw new Error('a file of an unknown kind was not refused')
  const folder = openOutputFolder(job)
  // Another run of the pipeline may write the file too.
  const draft = join(
    folder,
    `.${createHash('sha256').update(`${job.run}/${job.task.name}`).digest('hex').slice(0, 32)}`,
  )
  for (const left of [draft, `${draft}.partial`]) rmSync(left, { force: true })
  const input = openStepInput(inputFolder(job, summary), summary)
  try {
    await writeDataFile(draft, { kind, schema: input.columns, blocks: input.blocks() })
    const { bytes, sha256 } = digestFile(draft)
    requirePlainFile(join(folder, file))
    renameSync(draft, join(folder, file))
    syncFolder(folder)
    const origin = { name: input.name, bytes: summary.bytes, digest: summary.digest, rows: summary.rows }
    const written = { file, rows: summary.rows, bytes, digest: sha256, inputs: [origin] }
    return { log: `wrote ${summary.rows} rows to ${file}, ${bytes} bytes of SHA-256 ${sha256}\n`, written }
  } finally {
    input.close()
    rmSync(draft, { force: true })
  }
}

/** A folder of the tenant, and in it one of the pipeline. Neither is a link, by which others could lead the file elsewhere. */
function openOutputFolder({ outputs, tenant_id, pipeline }: TaskThreadJob): string {
  let folder = outputs
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const name of [safeFolderName(tenant_id), safeFolderName(pipeline)]) {
    folder = join(folder, name)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    if (!lstatSync(folder).isDirectory())
      throw new LandingError('the output folder of the pipeline is a link: replace it by a folder')
  }
  return folder
}

function requirePlainFile(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw new LandingError('the output folder has a folder of the name of the file')
}

function digestFile(path: string): { readonly bytes: number; readonly sha256: string } {
  const file = openDataFile(path)
  try {
    const digested = runningDigest()
    for (let at = 0; at < file.size; at += piece_bytes)
      digested.add(new Uint8Array(file.read(at, Math.min(file.size, at + piece_bytes))))
    return { bytes: file.size, sha256: digested.hex() }
  } finally {
    file.close()
  }
}
