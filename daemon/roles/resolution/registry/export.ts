// Exports a registry for a peer: a signed snapshot of the records that the peer may see, streamed line by line.
import * as z from 'zod'
import { canonicalJson } from '../../../kernel/encoding/canonical-json.ts'
import { runningDigest } from '../../../kernel/encoding/running-digest.ts'
import { isRefusal, refuse } from '../../../kernel/error/errors.ts'
import { siteName } from '../../../kernel/messaging/statement.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { RawResponse, type ServerEvent } from '../../../kernel/operation/operation.ts'
import { signWithSiteKey } from '../../../shared/site-key/site-key.ts'
import { text_form } from '../engine/text/text-form.ts'
import { entityRecords } from '../entity-record/model.ts'
import { readWriteBounds } from '../entity-record/write-numbered.ts'
import { type RegistryKey, shortText, uid } from '../fields.ts'
import { findTrainedLens, type TrainedLens } from '../lookup/trained-lens.ts'
import { matchingOperation } from '../matching.ts'
import { allocateEdition } from '../snapshot/edition.ts'
import { joinSourceLabels, LabelCrossingCheck, SnapshotLines } from '../snapshot/lines.ts'
import type { SnapshotManifest } from '../snapshot/model.ts'
import { isBeingWritten } from './match-waiting-records.ts'

const input = z.strictObject({
  peer: siteName.meta({ description: 'The receiving site; the snapshot contains only records that this site may see' }),
  lens_id: uid.optional().meta({ description: 'uid or name of the lens; the lens in use when absent' }),
  entity_type: shortText.optional().meta({ description: 'Selects the lens in use for this entity type' }),
})

export const exportRegistry = matchingOperation({
  summary:
    'Export a signed snapshot of the registry for a peer, as events: the lines of the file, then its signed last line',
  method: 'POST',
  path: '/api/v2/registry/export',
  input,
  output: z.unknown(),
  produces: ['text/event-stream'],
  streams: true,
  errors: ['not_found', 'label_denied', 'conflict'],
  allow: 'resolution:write',

  async run(call, { peer, ...selector }) {
    if (call.caller.tenant_id !== call.site.tenant_id) {
      return refuse(
        'forbidden',
        `only the registry of tenant ${call.site.tenant_id} can be exported: peers know no other tenant of this site`,
      )
    }
    const trained = await findTrainedLens(call, selector)
    if (isRefusal(trained)) return trained
    const crossing = new LabelCrossingCheck(call, peer)
    const label = await joinSourceLabels(call, trained, crossing)
    if (isRefusal(label)) return label
    const { tenant_id, lens } = trained.run.value
    if (await isBeingWritten(call, { tenant_id, lens })) return refuseWhileChanging()
    return new RawResponse(
      'text/event-stream',
      streamSnapshot(call, peer, trained, new SnapshotLines(call, trained, crossing, label)),
    )
  },
})

function refuseWhileChanging() {
  return refuse('conflict', 'the registry changed while it was read: retry')
}

/**
 * Streams the snapshot. Throws `Refusal('conflict')` if the registry changed meanwhile, since the lines may be mixed.
 */
async function* streamSnapshot(
  call: Call,
  peer: string,
  trained: TrainedLens,
  lines: SnapshotLines,
): AsyncGenerator<ServerEvent> {
  const registry = { tenant_id: trained.run.value.tenant_id, lens: trained.run.value.lens }
  const before = await readRegistryState(call, registry)
  const digest = runningDigest()
  let [bytes, id] = [0, 0]
  for await (const batch of lines.all()) {
    const texts = batch.map((line) => JSON.stringify(line))
    for (const text of texts) {
      digest.add(`${text}\n`)
      bytes += Buffer.byteLength(text) + 1
    }
    if (texts.length > 0) yield { id: String(++id), event: 'lines', data: { lines: texts } }
  }
  if (before !== (await readRegistryState(call, registry))) throw refuseWhileChanging()
  const { name: from } = call.site
  const { lens, lens_version, entity_type } = trained.run.value
  const { label, records, entities } = lines
  const manifest: SnapshotManifest = {
    ...{ v: 1, type: 'platform.registry', from, tenant_id: registry.tenant_id, to: peer },
    ...{
      lens,
      lens_version,
      entity_type,
      label,
      version: await allocateEdition(call, lens, peer),
      made_at: call.nowIso(),
    },
    ...{ text_form, records, entities, bytes, sha256: digest.hex() },
  }
  const signed = await signWithSiteKey(call, 'registry', Buffer.from(canonicalJson(manifest)))
  const { label: _label, ...detail } = manifest
  await call.record([call.audited(call.address, peer, detail, label)])
  const lastLine = JSON.stringify({ form: 'registry-snapshot/1', signed })
  yield { id: String(++id), event: 'ending', data: { line: lastLine, manifest } }
}

/** Returns text that changes with every write of a record or entity. */
async function readRegistryState(call: Call, registry: RegistryKey): Promise<string> {
  const filter = { tenant_id: registry.tenant_id, lens: registry.lens }
  const order = { field: 'updated_at', direction: 'desc' } as const
  const [count, newest, written, isWritten] = await Promise.all([
    call.store(entityRecords).count(filter),
    call.store(entityRecords).list({ filter, order, limit: 1, fresh: true }),
    readWriteBounds(call, registry),
    isBeingWritten(call, registry),
  ])
  return JSON.stringify([count, newest.docs[0]?.value.updated_at, newest.docs[0]?.version, written, isWritten])
}
