// Finishes changes of artifacts and of the curator: what a crash has left, and what the requests leave to it.
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Worker } from '../../../../kernel/role/role.ts'
import { curators } from '../curator/model.ts'
import { recordPause } from '../curator/set-paused.ts'
import { demoteSuperseded } from './change-artifacts.ts'
import { finishChange, follow_up_worker } from './follow-up.ts'
import { artifacts } from './model.ts'

/** Of one run: it runs again at once while there are more. */
const batch_size = 100

export const finishChanges: Worker = { name: follow_up_worker, when: { every_ms: 10_000 }, run: finishAll }

/** One change that cannot be finished keeps no other from it; the next run tries it again. */
export async function finishAll(call: Call): Promise<void> {
  const query = { filter: { follow_up: true }, limit: batch_size, fresh: true }
  const failures: unknown[] = []
  let finished = 0
  for (const doc of (await call.store(artifacts).list(query)).docs) {
    if (call.signal.aborted) return
    await finishChange(call, doc, demoteSuperseded)
      .then(() => {
        finished += 1
      })
      .catch((error: unknown) => failures.push(error))
  }
  for (const doc of (await call.store(curators).list(query)).docs) {
    await recordPause(call, doc)
    await call.store(curators).update(doc.id, ({ value }) => {
      if (value.version !== doc.value.version) return { answer: undefined }
      const { pending_audit: _, follow_up: __, ...next } = value
      return { next, answer: undefined }
    })
  }
  if (finished === batch_size) call.wake(follow_up_worker)
  if (failures.length > 0) throw failures[0]
}
