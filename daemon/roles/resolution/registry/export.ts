// Shows a registry to a peer: a signed snapshot of what the peer may see, line by line as it is read.
import * as z from 'zod'
import type { Call } from '../../../kernel/call.ts'
import { canonical } from '../../../kernel/canonical.ts'
import { isRefused, refuse } from '../../../kernel/errors.ts'
import { Reply, type ServerEvent } from '../../../kernel/operation.ts'
import { runningDigest } from '../../../kernel/running-digest.ts'
import { siteName } from '../../../kernel/transport.ts'
import { entityRecords } from '../entity-record/model.ts'
import { uid, word } from '../fields.ts'
import { type Learnt, learntFor } from '../lookup/learnt.ts'
import { matchingOperation } from '../matching.ts'
import { nextEdition } from '../snapshot/edition.ts'
import { Crossing, labelOfLearnt, SnapshotLines } from '../snapshot/lines.ts'
import type { Manifest } from '../snapshot/model.ts'
import { isBeingWritten } from './arrive.ts'
import type { Whose } from './reach.ts'
import { writtenBelow } from './writing.ts'

const input = z.strictObject({
  peer: siteName.meta({ description: 'The site that it is for: what that may see is in it' }),
  lens_id: uid.optional().meta({ description: 'uid or name; absent: the lens that is in use' }),
  entity_type: word.optional().meta({ description: 'Of which the lens in use is meant' }),
})

export const exportRegistry = matchingOperation({
  summary: 'A signed snapshot of the registry for a peer, as events: lines of the file, and last what closes it',
  method: 'POST',
  path: '/api/v2/registry/export',
  input,
  output: z.unknown(),
  produces: ['text/event-stream'],
  streams: true,
  errors: ['not_found', 'label_denied', 'conflict'],
  allow: 'resolution:write',

  async run(call, { peer, ...asked }) {
    if (call.caller.tenant_id !== call.site.tenant_id) {
      return refuse('forbidden', 'peers know the tenant of this site alone: only its registry can be shown to them')
    }
    const learnt = await learntFor(call, asked)
    if (isRefused(learnt)) return learnt
    const crossing = new Crossing(call, peer)
    const label = await labelOfLearnt(call, learnt, crossing)
    if (isRefused(label)) return label
    const { tenant_id, lens } = learnt.run.value
    if (await isBeingWritten(call, { tenant_id, lens })) return changing()
    return new Reply('text/event-stream', events(call, peer, learnt, new SnapshotLines(call, learnt, crossing, label)))
  },
})

function changing() {
  return refuse('conflict', 'the registry changes while it is read: try again')
}

/** Throws `Refused('conflict')` where the registry changed meanwhile: parts of before and after are no registry. */
async function* events(call: Call, peer: string, learnt: Learnt, lines: SnapshotLines): AsyncGenerator<ServerEvent> {
  const whose = { tenant_id: learnt.run.value.tenant_id, lens: learnt.run.value.lens }
  const before = await standOf(call, whose)
  const digest = runningDigest()
  let [bytes, id] = [0, 0]
  for await (const some of lines.all()) {
    const texts = some.map((line) => JSON.stringify(line))
    for (const text of texts) {
      digest.add(`${text}\n`)
      bytes += Buffer.byteLength(text) + 1
    }
    if (texts.length > 0) yield { id: String(++id), event: 'lines', data: { lines: texts } }
  }
  if (before !== (await standOf(call, whose))) throw changing()
  const { name: from } = call.site
  const { lens, lens_version, entity_type } = learnt.run.value
  const { label, records, entities } = lines
  const manifest: Manifest = {
    ...{ v: 1, type: 'platform.registry', from, tenant_id: whose.tenant_id, to: peer },
    ...{ lens, lens_version, entity_type, label, version: await nextEdition(call, lens, peer), made_at: call.nowIso() },
    ...{ records, entities, bytes, sha256: digest.hex() },
  }
  const signed = await call.others.sign('registry', Buffer.from(canonical(manifest)))
  const { label: _label, ...detail } = manifest
  await call.record([call.audited(call.address, peer, detail, label)])
  const ending = JSON.stringify({ form: 'registry-snapshot/1', signed })
  yield { id: String(++id), event: 'ending', data: { line: ending, manifest } }
}

/** Differs whenever a record was written, or an entity settled, in between. */
async function standOf(call: Call, whose: Whose): Promise<string> {
  const filter = { tenant_id: whose.tenant_id, lens: whose.lens }
  const order = { field: 'updated_at', direction: 'desc' } as const
  const [count, newest, written, isWritten] = await Promise.all([
    call.store(entityRecords).count(filter),
    call.store(entityRecords).list({ filter, order, limit: 1, fresh: true }),
    writtenBelow(call, whose),
    isBeingWritten(call, whose),
  ])
  return JSON.stringify([count, newest.docs[0]?.value.updated_at, newest.docs[0]?.version, written, isWritten])
}
