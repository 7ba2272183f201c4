// The cursor of a task while its run reads: taken before the try, and moved once the dataset is durable.
import { canonicalJson } from '../../../kernel/encoding/canonical-json.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import type { DagTask } from '../../../shared/assembled-dag/assembled-dag.ts'
import { isIncremental } from '../operator/incremental-task.ts'
import { faultPointPart, type OpenConnection, type TaskCursor, type TaskOutcome, taskPerformerPart } from '../parts.ts'
import { dagRuns, runFolderName, type StoredDagRun } from '../runner/model.ts'
import { nextTaskOf } from '../runner/next-task.ts'
import { isTaskOver } from '../runner/rules.ts'
import { wakeOldestRun } from '../runner/wake-runs.ts'
import { type CursorHolder, digestOfReading, readCursorId, readCursors, type StoredReadCursor } from './model.ts'
import { type LandedReading, moveCursor, takeCursor } from './rules.ts'

/** `service`: sees runs that the principal may not. */
type CursorCall = Call & { readonly service: Call }

export type HeldCursor = {
  readonly id: string
  readonly task: DagTask
  readonly holder: CursorHolder
  readonly work: TaskCursor
}

/** Undefined for a task that reads all; `busy` while another run reads, whose end wakes the oldest that waits. */
export async function holdCursor(
  call: CursorCall,
  run: Doc<StoredDagRun>,
  task: DagTask,
  connection: OpenConnection | undefined,
): Promise<HeldCursor | 'busy' | undefined> {
  if (!connection || !isIncremental(task)) return undefined
  const of = digestOfReading(task, connection)
  const id = readCursorId(run.value.pipeline, task.name, of)
  const holder = { run: run.id, dataset: `${runFolderName(run)}/${task.name}` }
  const stored = await findOrCreate(call, id, { run, task, of, holder })
  const former = stored.value.holder
  const isOther = former !== undefined && former.dataset !== holder.dataset
  if (isOther && !(await isDone(call, former, task.name))) return 'busy'
  const { tenant_id } = run.value
  const landed = isOther ? await call.part(taskPerformerPart).close(tenant_id, former.dataset) : undefined
  const { doc, answer } = await call.store(readCursors).update(id, ({ value }) => {
    const next = takeCursor(value, holder, former, landed)
    return next === undefined || next === value
      ? { answer: next !== undefined }
      : { next: { ...next, updated_at: call.nowIso() }, answer: true }
  })
  if (!answer) return 'busy'
  call.part(faultPointPart)('ingest-cursor-held')
  const base = doc.value.landed
  return { id, task, holder, work: { of, ...(base && { base }) } }
}

async function findOrCreate(
  call: Call,
  id: string,
  made: { readonly run: Doc<StoredDagRun>; readonly task: DagTask; readonly of: string; readonly holder: CursorHolder },
): Promise<Doc<StoredReadCursor>> {
  const found = await call.store(readCursors).find(id)
  if (found) return found
  const { tenant_id, label, created_by, pipeline } = made.run.value
  const at = call.nowIso()
  const created = await call.store(readCursors).create(id, {
    ...{ tenant_id, label, created_by, created_at: at, updated_at: at },
    ...{ pipeline, task: made.task.name, of: made.of, holder: made.holder },
  })
  return created === 'exists' ? await call.store(readCursors).get(id) : created
}

/** Whether no further try of the holder follows: its run is over or was deleted, or its task is over. */
async function isDone({ service }: CursorCall, { run: id, dataset }: CursorHolder, task: string): Promise<boolean> {
  const run = await service.store(dagRuns).find(id)
  // Another run may have the id of one that was deleted.
  if (!run || `${runFolderName(run)}/${task}` !== dataset) return true
  const { state, tasks } = run.value
  return state === 'success' || state === 'failed' || isTaskOver(tasks.find(({ name }) => name === task)?.state)
}

/** Once what the try made is durable. A failed try keeps the cursor where it is, for the next one. */
export async function releaseCursor(
  call: CursorCall,
  pipeline: string,
  held: HeldCursor | undefined,
  outcome: TaskOutcome,
): Promise<void> {
  if (!held || 'failure' in outcome || !outcome.dataset || !outcome.cursor) return
  const { dataset, digest } = outcome.dataset
  const landed: LandedReading = { dataset, digest, cursor: outcome.cursor }
  await call.store(readCursors).update(held.id, ({ value }) => {
    const next = moveCursor(value, held.holder, landed)
    return next === value ? { answer: undefined } : { next: { ...next, updated_at: call.nowIso() }, answer: undefined }
  })
  call.part(faultPointPart)('ingest-cursor-moved')
  // Those that this or a crash leaves asleep wake by themselves.
  await wakeOldestRun(call.service, pipeline, (run) => run.id !== held.holder.run && isWaiting(run.value, held.task))
}

/** Not where it waits for its next try. One whose step goes on may have found the cursor taken just now. */
function isWaiting(run: StoredDagRun, { name, params }: DagTask): boolean {
  if (run.job.state !== 'waiting' && run.job.state !== 'running') return false
  const next = nextTaskOf(run)
  return next?.name === name && canonicalJson(next.params) === canonicalJson(params)
}

/** Forgets what has landed of a pipeline that is deleted, whose uid another one may have. */
export async function removeCursors(call: Call, pipeline: string): Promise<void> {
  for await (const { id } of iterateDocuments(call.store(readCursors), { filter: { pipeline }, fresh: true }))
    await call.store(readCursors).remove(id)
}
