// Lists how an entity was built: its changes, with the matches by which its records joined.
import * as z from 'zod'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import { entityClusters } from '../entity-cluster/model.ts'
import { entityMatches, matchScore, type StoredMatch } from '../entity-match/model.ts'
import { recordUid } from '../entity-record/model.ts'
import { type RecordRef, type RegistryKey, recordRef, uid } from '../fields.ts'
import { recordKey } from '../registry/record-key.ts'
import { type EntityChange, entityChange, entityChanges } from './model.ts'
import { countChangesOfPage, showChanges } from './show-changes.ts'

const linkingMatch = z
  .strictObject({
    ref: recordRef.meta({ description: 'The record that joined' }),
    with: recordRef.meta({ description: 'The record of the entity that it is most like' }),
    match: uid,
    score: matchScore,
    state: z.enum(['proposed', 'confirmed', 'rejected', 'deferred']),
  })
  .meta({ id: 'LinkingMatch' })

/** Records of a page whose matches are looked for. */
const max_matched_records = 200

export const history = operation({
  summary: 'List how an entity was built: the records that joined it, by which match, run or decision, and when',
  method: 'GET',
  path: '/api/v2/entity_cluster/{uid}/change',
  tool: 'entity_change_history',
  input: z.strictObject({ uid, ...listFields }),
  output: pageSchema(
    entityChange
      .extend({
        links: z.array(linkingMatch).optional().meta({
          description: 'The strongest match of each record that joined, as it is now; for the first 200 of a page',
        }),
      })
      .meta({ id: 'EntityHistoryItem' }),
  ).meta({ id: 'EntityHistoryPage' }),
  errors: ['not_found'],
  allow: 'resolution:read',

  async run(call, { uid: entity, limit, cursor }) {
    const { value } = await call.store(entityClusters).get(entity)
    const query = buildListQuery({ entity }, limit, cursor, { field: 'place', direction: 'asc' })
    const found = await call.store(entityChanges).page({ ...query, fresh: true })
    const shown = countChangesOfPage(found.docs.map((doc) => doc.value))
    // A cursor does not depend on the limit, so a shorter page ends at the change that is the last one shown.
    const isWhole = shown === found.docs.length
    const page = isWhole ? found : await call.store(entityChanges).page({ ...query, limit: shown, fresh: true })
    const { docs, ...counted } = page
    const changes = await showChanges(
      call,
      docs.map((doc) => doc.value),
    )
    return { items: await addLinks(call, value, changes), ...counted }
  },
})

async function addLinks(call: Call, registry: RegistryKey, changes: readonly EntityChange[]) {
  const { tenant_id, lens } = registry
  const joined = changes.flatMap(({ joined: refs = [] }) => refs).slice(0, max_matched_records)
  const links = await findLinks(
    call,
    { tenant_id, lens },
    joined.map((ref) => recordUid(tenant_id, lens, ref)),
  )
  return changes.map((change) => {
    const found = (change.joined ?? []).flatMap((ref) => showLink(ref, links.get(recordKey(ref))))
    return found.length > 0 ? { ...change, links: found } : change
  })
}

type FoundLink = { readonly id: string; readonly match: StoredMatch }

/** Finds the strongest linked match of each record that the caller may see, by the key of the record. */
async function findLinks(
  call: Call,
  { tenant_id, lens }: RegistryKey,
  uids: readonly string[],
): Promise<ReadonlyMap<string, FoundLink>> {
  const links = new Map<string, FoundLink>()
  if (uids.length === 0) return links
  for (const field of ['left_uid', 'right_uid'] as const) {
    // A record may have any number of matches, so only the strongest is kept while they are read.
    const query = { filter: { tenant_id, [field]: { in: [...new Set(uids)] } }, fresh: true }
    const order = { field, direction: 'asc' } as const
    for await (const { id, value: match } of iterateDocuments(call.store(entityMatches), { ...query, order })) {
      call.signal.throwIfAborted()
      if (!match.linked || match.lens !== lens) continue
      const key = recordKey(field === 'left_uid' ? match.left : match.right)
      const best = links.get(key)
      if (!best || isStronger({ id, match }, best)) links.set(key, { id, match })
    }
  }
  return links
}

function isStronger(one: FoundLink, other: FoundLink): boolean {
  return one.match.rank > other.match.rank || (one.match.rank === other.match.rank && one.id < other.id)
}

function showLink(ref: RecordRef, best: FoundLink | undefined): z.infer<typeof linkingMatch>[] {
  if (!best) return []
  const { left, right, score, state } = best.match
  const other = recordKey(left) === recordKey(ref) ? right : left
  return [{ ref, with: other, match: best.id, score, state }]
}
