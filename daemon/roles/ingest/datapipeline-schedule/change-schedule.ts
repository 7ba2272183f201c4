// The schedule of an object in requests about the object: added with it, changed with it, and removed after it.
import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import type { ManagedDag } from '../managed-dag/model.ts'
import { pipelineSchedules } from './model.ts'
import { type ScheduleChange, setSchedule } from './plan-schedule.ts'

/** Also completes a request that ended before; what was set since stays. */
export async function addSchedule<T extends ManagedDag>(
  call: Call,
  doc: Doc<T>,
  { schedule, timezone }: ScheduleChange,
): Promise<Doc<T> | Refusal> {
  if ((schedule ?? '') === '' && timezone === undefined) return doc
  if (await call.store(pipelineSchedules).find(doc.id)) return doc
  const set = await setSchedule(call, doc, { schedule, timezone })
  return isRefusal(set) ? set : doc
}

/** Scheduled runs of a content act for the person who decided it, never for an owner who has not seen it. */
export async function changeSchedule(
  call: Call,
  object: Doc<ManagedDag>,
  { schedule, timezone }: ScheduleChange,
  hasContent: boolean,
): Promise<Refusal | undefined> {
  const isNamed = schedule !== undefined || timezone !== undefined
  const before = (await call.store(pipelineSchedules).find(object.id))?.value
  const isTaken = hasContent && before?.schedule !== undefined && before.job.principal?.subject !== call.caller.subject
  const set = isNamed || isTaken ? await setSchedule(call, object, { schedule, timezone }) : undefined
  return isRefusal(set) ? set : undefined
}

/** Gives the record the label that the object has now: an owner who may not see that any more has no further runs. */
export async function relabelSchedule(call: Call, { id, value: { label } }: Doc<ManagedDag>): Promise<void> {
  if (!(await call.store(pipelineSchedules).find(id))) return
  await call.store(pipelineSchedules).update(id, ({ value }) => ({ next: { ...value, label }, answer: undefined }))
}

/** A record that a crash leaves finds no object, and ends. */
export async function removeSchedule(call: Call, id: string): Promise<void> {
  if (await call.store(pipelineSchedules).find(id)) await call.store(pipelineSchedules).remove(id)
}
