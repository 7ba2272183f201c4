// The commits to artifacts as server-sent events, for an administrator who watches; `Last-Event-ID` resumes where a reader stopped.
import * as z from 'zod'
import type { Call } from '../../../../kernel/operation/call.ts'
import { changesUntilExpiry, isTokenExpired } from '../../../../kernel/operation/changes-until-expiry.ts'
import { operation, RawResponse, type ServerEvent } from '../../../../kernel/operation/operation.ts'
import type { CursorPosition } from '../../../../kernel/store/store.ts'
import { artifactTypes } from '../artifact/content.ts'
import { artifact_topic } from '../artifact/follow-up.ts'
import { type Artifact, artifactStatuses, artifacts } from '../artifact/model.ts'
import { guidanceScope } from './model.ts'
import { isAddressedTo } from './rules.ts'

/** Also the longest that a stream outlives its token. */
const poll_interval_ms = 1_000
const batch_size = 100

const commit = z
  .strictObject({
    artifact_id: z.string(),
    type: z.enum(artifactTypes),
    version: z.int(),
    status: z.enum(artifactStatuses),
    change_reason: z.string(),
    actor: z.string(),
    at: z.iso.datetime(),
  })
  .meta({ id: 'GuidanceCommit' })

export const stream = operation({
  summary: 'Stream the commits to the artifacts of a scope as server-sent events',
  method: 'GET',
  path: '/api/v1/guide/guidance/stream',
  input: z.strictObject({ scope: guidanceScope.default('l1') }),
  output: commit,
  errors: ['rate_limited'],
  allow: 'guide:admin',
  produces: ['text/event-stream'],
  streams: true,

  run: async (call, { scope }) => new RawResponse('text/event-stream', streamCommits(call, scope)),
})

/** Of an artifact that changes twice between two looks, the last commit is shown. */
async function* streamCommits(call: Call, scope: string): AsyncIterable<ServerEvent> {
  let after = parsePosition(call.last_event_id) ?? { value: call.now(), id: '' }
  const order = { field: 'update_ts', direction: 'asc' } as const
  for await (const _ of changesUntilExpiry(call, artifact_topic, poll_interval_ms)) {
    for (;;) {
      const page = await call.store(artifacts).list({ order, after, limit: batch_size, fresh: true })
      for (const { id, value } of page.docs) {
        if (isTokenExpired(call)) return
        after = { value: value.update_ts, id }
        if (isAddressedTo(scope, value))
          yield { id: `${value.update_ts}.${id}`, event: 'commit', data: showCommit(id, value) }
      }
      if (isTokenExpired(call)) return
      if (page.next_cursor === undefined) break
    }
  }
}

function showCommit(artifact_id: string, { type, version, status, change_reason, actor, update_ts }: Artifact) {
  const at = new Date(update_ts).toISOString()
  return { artifact_id, type, version, status, change_reason, actor, at }
}

/** Undefined for another id than those of this stream: it begins now. */
function parsePosition(last_event_id: string | undefined): CursorPosition | undefined {
  const [, value, id] = /^(\d{1,15})\.(.{1,256})$/.exec(last_event_id ?? '') ?? []
  return value === undefined || id === undefined ? undefined : { value: Number(value), id }
}
