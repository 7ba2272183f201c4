// The commits to artifacts and the curator as server-sent events, from the audit records: for an administrator who watches.
// `Last-Event-ID` resumes where a reader stopped.

import * as z from 'zod'
import type { Call } from '../../../../kernel/operation/call.ts'
import { changesUntilExpiry, isTokenExpired } from '../../../../kernel/operation/changes-until-expiry.ts'
import { operation, RawResponse, type ServerEvent } from '../../../../kernel/operation/operation.ts'
import { artifact_topic } from '../artifact/follow-up.ts'
import { artifacts } from '../artifact/model.ts'
import { guideAudits, type StoredAudit } from '../audit/model.ts'
import { auditView, showAudit } from '../audit/view.ts'
import { CommitPosition, formatPosition, parsePosition } from './commit-position.ts'
import { guidanceScope } from './model.ts'
import { isAddressedTo } from './rules.ts'

/** Also the longest that a stream outlives its token. */
const poll_interval_ms = 1_000
const batch_size = 100

export const stream = operation({
  summary: 'Stream the changes of artifacts and the pauses of the curator as server-sent events',
  method: 'GET',
  path: '/api/v1/guide/guidance/stream',
  input: z.strictObject({
    scope: guidanceScope.optional().meta({ description: 'Only artifacts for this scope; default: for any' }),
  }),
  output: auditView,
  errors: ['rate_limited'],
  allow: 'guide:admin',
  produces: ['text/event-stream'],
  streams: true,

  run: async (call, { scope }) => new RawResponse('text/event-stream', streamCommits(call, scope)),
})

/** The first event has only an id: a reader that is cut off before the first commit resumes from there as well. */
async function* streamCommits(call: Call, scope: string | undefined): AsyncIterable<ServerEvent> {
  const start = parsePosition(call.last_event_id) ?? { value: call.now(), id: '' }
  const position = new CommitPosition(start)
  yield { id: formatPosition(start), event: 'begin', data: {} }
  const order = { field: 'update_ts', direction: 'asc' } as const
  for await (const _ of changesUntilExpiry(call, artifact_topic, poll_interval_ms)) {
    let after = position.nextStart(call.now())
    for (;;) {
      const page = await call.store(guideAudits).list({ order, after, limit: batch_size, fresh: true })
      for (const doc of page.docs) {
        if (isTokenExpired(call)) return
        after = { value: doc.value.update_ts, id: doc.id }
        if (!position.take(after) || !(await isInScope(call, scope, doc.value))) continue
        yield { id: formatPosition(after), event: 'commit', data: showAudit(doc) }
      }
      if (isTokenExpired(call)) return
      if (page.next_cursor === undefined) break
    }
  }
}

/** A pause of the curator concerns every scope. An artifact that was deleted since has no place any more. */
async function isInScope(call: Call, scope: string | undefined, { artifact_id }: StoredAudit): Promise<boolean> {
  if (scope === undefined || artifact_id === undefined) return true
  const artifact = await call.store(artifacts).find(artifact_id)
  return artifact !== undefined && isAddressedTo(scope, artifact.value)
}
