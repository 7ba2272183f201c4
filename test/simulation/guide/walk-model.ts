// Walks artifacts and their plain model through the same changes, and compares them after each.
import { expect } from 'vitest'
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import type { Call } from '../../../daemon/kernel/operation/call.ts'
import type { Store } from '../../../daemon/kernel/store/store.ts'
import {
  demoteArtifact,
  editArtifact,
  flagArtifact,
  forgetArtifact,
  promoteArtifact,
  rollbackArtifact,
} from '../../../daemon/roles/gateway/guide/artifact/change-artifacts.ts'
import { finishAll } from '../../../daemon/roles/gateway/guide/artifact/finish-changes.ts'
import { artifacts } from '../../../daemon/roles/gateway/guide/artifact/model.ts'
import { proposeArtifact } from '../../../daemon/roles/gateway/guide/artifact/propose-artifact.ts'
import type { ChangeGround } from '../../../daemon/roles/gateway/guide/audit/entry.ts'
import { pairingDraft } from '../../support/guide/drafts.ts'
import { createGuideCall } from '../../support/guide/guide-call.ts'
import { type SeededRandom, seededRandom } from '../../support/random/seeded-random.ts'
import { LifecycleModel, type ModelChange } from './lifecycle-model.ts'

const ground: ChangeGround = { actor: 'admin:ada', trigger: 'admin_manual' }

export async function walkModel(store: Store, seed: number, steps: number): Promise<{ made: number; refused: number }> {
  const random = seededRandom(seed)
  let now = 0
  const bytes = (count: number) => 'ab'.repeat(count)
  const call = createGuideCall({ store, now: () => ++now, random: bytes })
  const model = new LifecycleModel()
  const ids: string[] = []
  for (const key of ['a', 'b', 'c', 'd']) {
    const proposed = await proposeArtifact(call, pairingDraft({ key }), ground)
    if (isRefusal(proposed)) throw proposed
    ids.push(proposed.doc.id)
    model.propose(proposed.doc.id)
  }
  const counts = { made: 0, refused: 0 }
  for (let step = 0; step < steps; step += 1) {
    const id = random.pick(ids)
    const change = drawChange(random, ids, id)
    const outcome = await perform(call, id, change)
    expect(!isRefusal(outcome), `step ${step}: ${change.action} of ${id}`).toBe(model.change(id, change))
    counts[isRefusal(outcome) ? 'refused' : 'made'] += 1
    if (random.happens(0.3)) {
      await finishAll(call)
      model.finish()
    }
    for (const each of ids) expect((await store.get(artifacts, each))?.value, each).toMatchObject(model.show(each))
  }
  return counts
}

function drawChange({ weighted, happens, below }: SeededRandom, ids: readonly string[], id: string): ModelChange {
  const action = weighted({ promote: 5, demote: 4, forget: 2, flag: 1, edit: 2, rollback: 3 })
  if (action === 'promote')
    return { action, supersedes: happens(0.4) ? ids.filter((other) => other !== id && happens(0.4)) : [] }
  if (action === 'edit') return { action, notes: `note ${below(100)}` }
  return action === 'rollback' ? { action, version: 1 + below(9) } : { action }
}

function perform(call: Call, id: string, change: ModelChange) {
  switch (change.action) {
    case 'promote':
      return promoteArtifact(call, id, ground, change.supersedes)
    case 'demote':
      return demoteArtifact(call, id, ground)
    case 'forget':
      return forgetArtifact(call, id, ground)
    case 'flag':
      return flagArtifact(call, id, ground)
    case 'edit':
      return editArtifact(call, id, ground, { notes: change.notes })
    case 'rollback':
      return rollbackArtifact(call, id, ground, change.version)
  }
}
