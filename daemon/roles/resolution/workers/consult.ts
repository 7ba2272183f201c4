// Opens the consensus sessions that matches request. Each session is first stored at its match, so that a repeat after
// a crash is harmless.

import { sha256 } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { shortenText } from '../../../kernel/text/shorten-text.ts'
import { openMatchSession } from '../../../shared/match-session/match-session.ts'
import { originId } from '../../../shared/origin-id/origin-id.ts'
import { formatRecordName } from '../entity-match/format-record-name.ts'
import { entityMatches, type MatchRuling, type StoredMatch } from '../entity-match/model.ts'
import { mayOpenSession } from '../entity-match/rules.ts'

/** Limit of the consensus role for the names of a session's subject. */
const max_name_characters = 256

export const consultWorker: Worker = { name: 'consult', when: { every_ms: 5_000 }, run }

async function run(call: Call): Promise<void> {
  const requested = { filter: { asks: 1 }, fresh: true, page_size: 100 }
  for await (const doc of iterateDocuments(call.store(entityMatches), requested)) {
    if (call.signal.aborted) return
    try {
      await openSession(call, doc)
    } catch (error) {
      // The consensus role is unavailable, or does not run on this site: the request stays pending.
      const { trace_id } = call.trace
      call.log.warn('resolution.entity-match.not_consulted', { trace_id, match: doc.id, error: String(error) })
      if (isRefusal(error) && error.row.retryable) return
    }
  }
}

async function openSession(call: Call, doc: Doc<StoredMatch>): Promise<void> {
  const reserved = await reserveSession(call, doc)
  const { consult: requested, rulings } = reserved.value
  const open = rulings.find(({ status, seq }) => status === 'open' && seq === 0)
  const refused =
    open && requested ? await openRequestedSession(call, doc.id, reserved.value, open.session_id, requested) : undefined
  await call
    .store(entityMatches)
    .update(doc.id, ({ value }) => ({ next: recordAnswer(value, refused), answer: undefined }))
}

/** In the name of the person who requested it or its run, with the rights of now. */
async function openRequestedSession(
  call: Call,
  id: string,
  { tenant_id, label, lens_id, lens_version, left, right }: StoredMatch,
  session_id: string,
  { principal, run_id, ...parameters }: NonNullable<StoredMatch['consult']>,
): Promise<Refusal | undefined> {
  if (!principal) return refuse('forbidden', 'nobody requested the consultation: request it again, or start a new run')
  const work = { collection: entityMatches.name, id: run_id ?? id }
  return await openMatchSession(call.delegation(principal, work), {
    ...{ id: session_id, tenant_id, label, lens_id, lens_version, ...parameters },
    subject: {
      kind: 'entity_match',
      left: formatRecordName(left, max_name_characters),
      right: formatRecordName(right, max_name_characters),
      correlation_id: id,
    },
  })
}

/** Stores the session to open. Its id derives from the match and the number of its earlier sessions. */
async function reserveSession(call: Call, { id }: Doc<StoredMatch>): Promise<Doc<StoredMatch>> {
  const { doc } = await call.store(entityMatches).update(id, ({ value }) => {
    if (!mayOpenSession(value)) return { answer: undefined }
    const digits = sha256(JSON.stringify([value.tenant_id, id, value.rulings.length]))
    const session_id = originId('ses', call.site.name, digits)
    const opened: MatchRuling = { session_id, seq: 0, status: 'open', at: call.nowIso() }
    const audit = [call.audited('resolution.entity-match.consult', id, { session_id }, value.label)]
    return { next: { ...value, rulings: [...value.rulings, opened] }, answer: undefined, audit }
  })
  return doc
}

function recordAnswer({ consult: _done, ...value }: StoredMatch, refused: Refusal | undefined): StoredMatch {
  const rulings = refused
    ? value.rulings.map((ruling) =>
        ruling.status === 'open' && ruling.seq === 0
          ? { ...ruling, status: 'failed' as const, reason: shortenText(refused.message, 1_024) }
          : ruling,
      )
    : value.rulings
  return { ...value, rulings, asks: 0 }
}
