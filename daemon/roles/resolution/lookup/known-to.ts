// The registry that a caller looks a record up in.
import type { Call } from '../../../kernel/call.ts'
import { isRefused, type Refused } from '../../../kernel/errors.ts'
import { entityClusters } from '../entity-cluster/model.ts'
import { entityRecords, recordUid } from '../entity-record/model.ts'
import { isLookupOnly } from '../matching.ts'
import { lookupsPart, snapshotLookupsPart } from '../parts.ts'
import type { Known } from './known.ts'
import { type Asked, type Learnt, learntFor } from './learnt.ts'

export async function knownTo(call: Call, asked: Asked): Promise<Known | Refused> {
  if (isLookupOnly(call)) return await call.part(snapshotLookupsPart).of(call, asked)
  const learnt = await learntFor(call, asked)
  return isRefused(learnt) ? learnt : await knownBy(call, learnt)
}

/** What the store tells the caller, each time anew; only the index is of before. */
async function knownBy(call: Call, learnt: Learnt): Promise<Known | Refused> {
  const index = await call.part(lookupsPart).of(call, learnt)
  if (isRefused(index)) return index
  const { tenant_id, lens, route } = learnt.run.value
  return {
    lens: learnt.lens.value.body,
    run: { id: learnt.run.id, route },
    weights: learnt.weights,
    index,
    uidOf: (ref) => recordUid(tenant_id, lens, ref),
    record: async (uid) => (await call.store(entityRecords).find(uid))?.value,
    async entity(id) {
      const found = await call.store(entityClusters).find(id)
      if (found?.value.state !== 'live') return undefined
      const { label, size, members } = found.value
      return { id, label, size, members }
    },
  }
}
