// Applies arrived records and decisions to clusters, shortly after each, and again after a crash or a run.

import { isRefusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import { matchAllWaitingRecords, registerArrivals } from '../arrival/register-arrivals.ts'
import type { EntityChangeCause } from '../entity-change/model.ts'
import { entityMatches, type StoredMatch } from '../entity-match/model.ts'
import { isBeingWritten } from '../registry/match-waiting-records.ts'
import { reclusterEntities } from '../registry/recluster-entities.ts'
import { settleWithdrawals } from '../withdrawal/settle-withdrawals.ts'
import { withdrawMembers } from '../withdrawal/withdraw-members.ts'

export const reclusterWorker: Worker = { name: 'recluster', when: { every_ms: 5_000 }, run }

/** Performs all changes in sequence, so that no two change the same entities at a time. */
async function run(call: Call): Promise<void> {
  await withdrawMembers(call)
  await settleWithdrawals(call)
  await registerArrivals(call)
  await matchAllWaitingRecords(call)
  await applyPendingDecisions(call)
}

async function applyPendingDecisions(call: Call): Promise<void> {
  const pending = { filter: { owes: 1 }, fresh: true, page_size: 100 }
  for await (const { id } of iterateDocuments(call.store(entityMatches), pending)) {
    if (call.signal.aborted) return
    await applyDecision(call, id).catch((error: unknown) => {
      // A stop interrupts it, and the next start applies it.
      if (call.signal.aborted) return
      // A decision that cannot be applied must not delay later ones.
      const { trace_id } = call.trace
      const level = isRefusal(error) && error.row.retryable ? 'warn' : 'error'
      call.log[level]('resolution.entity-match.not_applied', { trace_id, match: id, error: String(error) })
    })
  }
}

/** The latest assessment or ruling is the one that was not applied yet. */
function causeOfDecision(match: string, { decided_by, reviews, attestations }: StoredMatch): EntityChangeCause {
  const [last] = [...reviews, ...attestations].sort((left, right) => right.seq - left.seq)
  const by = decided_by === 'consensus' ? 'consensus' : last?.by
  return { kind: 'decision', match, ...(by === undefined ? {} : { by }) }
}

async function applyDecision(call: Call, uid: string): Promise<void> {
  const doc = await call.store(entityMatches).find(uid)
  // Reclustering for another match of the same cluster may have applied this decision.
  if (!doc || doc.value.owes === 0 || (await isBeingWritten(call, doc.value))) return
  const { tenant_id, lens, lens_id, lens_version, entity_type, run_id, left_uid, right_uid } = doc.value
  const cause = causeOfDecision(uid, doc.value)
  const origin = { lens, lens_id, lens_version, entity_type, run_id, cause }
  await reclusterEntities(call, { tenant_id, lens }, origin, [left_uid, right_uid])
  // Records outside the registry have no cluster; the decision applies when a run adds them.
  await call
    .store(entityMatches)
    .update(uid, ({ version, value }) =>
      version === doc.version && value.owes
        ? { next: { ...value, owes: 0 }, answer: undefined }
        : { answer: undefined },
    )
}
