// What lands of a store of objects: those that the task selects, downloaded into the folder of drafts.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { openPlainFile } from '../../../../adapters/platform/data-file/tenant-data-file.ts'
import { ingestObjects } from '../../../roles/ingest/operator/ingest-objects.ts'
import { fileFormats, type ReadAs } from '../../../roles/ingest/operator/read-as.ts'
import type { OpenConnection } from '../../../roles/ingest/parts.ts'
import { nameObject, type ObjectSource, type StoredObject } from '../../../shared/object-source/object-source.ts'
import { RowSourceError } from '../../../shared/row-source/row-source.ts'
import { type CursorBase, openCursorBase } from '../connection/cursor-base.ts'
import type { NewsOfSource, SourceInputs } from '../connection/database-inputs.ts'
import { scanDownload } from '../http-source/scan-download.ts'
import type { LandingInput } from '../landing/landing-input.ts'
import { formatOfName, pickDataFormat } from '../landing/stated-format.ts'
import type { TaskThreadJob } from '../thread-job.ts'
import { downloadObject } from './download-object.ts'
import { keyMatcher } from './key-pattern.ts'
import { addKnownObjects, digestOfObject } from './known-objects.ts'
import { openObjectSource } from './open-object-source.ts'
import { type ObjectSelection, selectObjects } from './select-objects.ts'

type ObjectParams = z.output<typeof ingestObjects.params>

const usual_limits = { bytes: 4_294_967_296, total_bytes: 17_179_869_184 }

/** Writes into the folder of drafts. Throws `RowSourceError`. */
export async function openObjectInputs(job: TaskThreadJob): Promise<SourceInputs> {
  const { connection } = job
  if (!connection) throw new RowSourceError('the task has no connection')
  const params = ingestObjects.params.parse(job.task.params)
  const base = params.only_new && openCursorBase(job)
  const source = await openObjectSource(connection, job)
  // The thread ends with its task: there is no other signal in it.
  const { signal } = new AbortController()
  try {
    const selection = await select(source, connection, job, params, base, signal)
    const inputs = await download(source, selection.taken, job, params.read_as, signal)
    const isEmpty = inputs.length === 0
    const news = base && describeNews(base, selection)
    return { inputs, columns: isEmpty ? (base?.columns ?? []) : [], ...(news && { news }) }
  } finally {
    source.close()
  }
}

async function select(
  source: ObjectSource,
  { config }: OpenConnection,
  { object_limits: limits = usual_limits }: TaskThreadJob,
  { prefix = '', pattern, max_objects }: ObjectParams,
  base: CursorBase | undefined,
  signal: AbortSignal,
): Promise<ObjectSelection> {
  const { prefix: of = '' } = z.looseObject({ prefix: z.string().optional() }).parse(config)
  const isWanted = pattern === undefined ? () => true : keyMatcher(pattern)
  const known = new Set(base?.cursor?.objects)
  const request = { prefix: of + prefix, isWanted, known, max_objects, limits }
  const selection = await selectObjects(source, request, signal)
  if (selection.taken.length === 0 && !base?.cursor)
    throw new RowSourceError('no object matches the prefix and the pattern', false)
  if (selection.left > 0 && !base)
    throw new RowSourceError(
      `${selection.taken.length + selection.left} objects match, more than one task takes (max_objects, and ${limits.total_bytes} bytes): name a narrower prefix or pattern, or let runs take the rest by only_new`,
    )
  return selection
}

/** Files have numbers as names: keys are of strangers. */
async function download(
  source: ObjectSource,
  objects: readonly StoredObject[],
  job: TaskThreadJob,
  read_as: ReadAs | undefined,
  signal: AbortSignal,
): Promise<LandingInput[]> {
  const formats = objects.map(({ key }) => pickDataFormat(inferKind(key, read_as), read_as))
  const folder = join(job.drafts, 'objects')
  mkdirSync(folder, { mode: 0o700 })
  const inputs: LandingInput[] = []
  for (const [at, object] of objects.entries()) {
    const staged = join(folder, String(at))
    const sha256 = await downloadObject(source, object, staged, signal)
    if (job.scanner) await scanDownload(job.scanner, staged)
    const { key } = object
    const format = formats[at] ?? { kind: 'csv' }
    inputs.push({ name: key, label: nameObject(key), format, sha256, open: () => openPlainFile(staged) })
  }
  return inputs
}

/** A guess could land any text as a table of one column. */
function inferKind(key: string, stated: ReadAs | undefined) {
  const kind = stated?.format ?? formatOfName(key)
  if (kind !== undefined) return kind
  throw new RowSourceError(
    `the format of the object ${nameObject(key)} is unknown by its key: state read_as.format, one of ${fileFormats.join(', ')}, or name a pattern without it`,
  )
}

function describeNews({ origin, cursor }: CursorBase, { taken, present, left }: ObjectSelection): NewsOfSource {
  const rest = left === 0 ? '' : `; the next run takes ${left} more`
  return {
    isEmpty: taken.length === 0,
    describeCursor: () => ({
      ...origin,
      objects: addKnownObjects(cursor?.objects ?? [], taken.map(digestOfObject), present),
    }),
    remark: `took ${taken.length} of ${present.size} objects: others have landed before${rest}`,
  }
}
