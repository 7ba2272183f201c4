// Opens the consensus sessions that matches ask for; each is noted at its match before it is opened, so that a crash only repeats it.
import type { Call } from '../../../kernel/call.ts'
import { sha256 } from '../../../kernel/canonical.ts'
import { isRefused, type Refused } from '../../../kernel/errors.ts'
import type { Worker } from '../../../kernel/role.ts'
import type { Doc } from '../../../kernel/store.ts'
import { entityMatches, type Ruling, type StoredMatch } from '../entity-match/model.ts'
import { maySitAgain } from '../entity-match/rules.ts'
import type { RecordRef } from '../fields.ts'

export const consult: Worker = { name: 'consult', when: { every_ms: 5_000 }, run }

async function run(call: Call): Promise<void> {
  let cursor: string | undefined
  do {
    const query = { filter: { asks: 1 }, limit: 100, ...(cursor === undefined ? {} : { cursor }), fresh: true }
    const page = await call.store(entityMatches).list(query)
    for (const doc of page.docs) {
      if (call.signal.aborted) return
      try {
        await ask(call, doc)
      } catch (error) {
        // The consensus role is away, or does not run on this site: what is asked for stays.
        const { trace_id } = call.trace
        call.log.warn('resolution.entity-match.not-consulted', { trace_id, match: doc.id, error: String(error) })
        if (isRefused(error) && error.row.retryable) return
      }
    }
    cursor = page.next_cursor
  } while (cursor !== undefined)
}

async function ask(call: Call, doc: Doc<StoredMatch>): Promise<void> {
  const noted = await note(call, doc)
  const { consult: asked, tenant_id, label, lens_id, lens_version, left, right } = noted.value
  const open = noted.value.rulings.find(({ status, seq }) => status === 'open' && seq === 0)
  const refused =
    open && asked
      ? await call.others.openSession({
          ...{ id: open.session_id, tenant_id, label, lens_id, lens_version, ...asked },
          subject: { kind: 'entity_match', left: nameOf(left), right: nameOf(right), correlation_id: doc.id },
        })
      : undefined
  await call.store(entityMatches).update(doc.id, ({ value }) => ({ next: answered(value, refused), answer: undefined }))
}

/** The session under the id that it will have: of the match, and of how many sessions it had before. */
async function note(call: Call, { id }: Doc<StoredMatch>): Promise<Doc<StoredMatch>> {
  const { doc } = await call.store(entityMatches).update(id, ({ value }) => {
    if (!maySitAgain(value)) return { answer: undefined }
    const session_id = `ses_${sha256(JSON.stringify([value.tenant_id, id, value.rulings.length])).slice(0, 32)}`
    const opened: Ruling = { session_id, seq: 0, status: 'open', at: call.nowIso() }
    const audit = [call.audited('resolution.entity-match.consult', id, { session_id }, value.label)]
    return { next: { ...value, rulings: [...value.rulings, opened] }, answer: undefined, audit }
  })
  return doc
}

function answered({ consult: _done, ...value }: StoredMatch, refused: Refused | undefined): StoredMatch {
  const rulings = refused
    ? value.rulings.map((each) =>
        each.status === 'open' && each.seq === 0
          ? { ...each, status: 'failed' as const, reason: refused.message.slice(0, 1_024) }
          : each,
      )
    : value.rulings
  return { ...value, rulings, asks: 0 }
}

const most_letters = 256

/** As `node/record`; a name that is too long keeps its beginning, and the correlation id tells the record. */
function nameOf({ node_id, record_id }: RecordRef): string {
  const name = `${node_id}/${record_id}`
  return name.length <= most_letters ? name : `${name.slice(0, most_letters - 1)}…`
}
