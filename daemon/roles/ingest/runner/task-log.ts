// The log of the newest try of a task.
import type { Call } from '../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { type StoredDagRun, taskLogId, taskLogs } from './model.ts'

/** Replaces the log of the try before. */
export async function writeTaskLog(
  call: Call,
  run: string,
  of: StoredDagRun,
  task: string,
  text: string,
): Promise<void> {
  const { tenant_id, label, created_by } = of
  const at = call.nowIso()
  const id = taskLogId(run, task)
  const value = { tenant_id, label, created_by, created_at: at, updated_at: at, run, task, text }
  const stored = await call.store(taskLogs).create(id, value)
  if (stored === 'exists') await call.store(taskLogs).update(id, () => ({ next: value, answer: undefined }))
}

export async function readTaskLog(call: Call, { id }: Doc<StoredDagRun>, task: string): Promise<string> {
  return (await call.store(taskLogs).find(taskLogId(id, task)))?.value.text ?? ''
}

export async function removeTaskLogs(call: Call, run: string): Promise<void> {
  const logs = iterateDocuments(call.store(taskLogs), { filter: { run }, fresh: true })
  for await (const { id } of logs) await call.store(taskLogs).remove(id)
}
