// Writes the lines of a snapshot: only records that the caller and the peer may both see, and nothing that reveals the
// rest.

import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import { joinLabels, type Label, labelKey } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc, DocumentPage } from '../../../kernel/store/store.ts'
import { checkCrossing } from '../../../shared/label-crossing/label-crossing.ts'
import { clusterUid, entityClusters } from '../entity-cluster/model.ts'
import { entityRecords, type StoredRecord } from '../entity-record/model.ts'
import type { RecordRef } from '../fields.ts'
import type { TrainedLens } from '../lookup/trained-lens.ts'
import { max_labels, type SnapshotLine } from './model.ts'

const page_size = 500
/** For an entity of which the peer sees a part: its own id may be made of a record that the peer may not know of. */
const partial_entity_turn = -1

/** Whether a label may cross to the peer; checked once per label. */
export class LabelCrossingCheck {
  readonly #call: Call
  readonly #peer: string
  readonly #known = new Map<string, Refusal | undefined>()

  constructor(call: Call, peer: string) {
    this.#call = call
    this.#peer = peer
  }

  async refusal(label: Label): Promise<Refusal | undefined> {
    const key = labelKey(label)
    if (!this.#known.has(key)) this.#known.set(key, await checkCrossing(this.#call, this.#peer, label))
    return this.#known.get(key)
  }
}

/** What was written so far. */
export class SnapshotLines {
  readonly #call: Call
  readonly #trainedLens: TrainedLens
  readonly #crossing: LabelCrossingCheck
  readonly #places = new Map<string, number>()
  readonly #entities = new Map<string, string | undefined>()
  readonly #shownEntities = new Set<string>()
  records = 0
  /** Of all lines together. */
  label: Label

  /** `label`: that of the lens and of the run, which the first line is about. */
  constructor(call: Call, trained: TrainedLens, crossing: LabelCrossingCheck, label: Label) {
    this.#call = call
    this.#trainedLens = trained
    this.#crossing = crossing
    this.label = label
  }

  get entities(): number {
    return this.#shownEntities.size
  }

  async *all(): AsyncGenerator<SnapshotLine[]> {
    yield this.#first()
    const { tenant_id, lens } = this.#trainedLens.run.value
    let cursor: string | undefined
    do {
      this.#call.signal.throwIfAborted()
      const next = cursor === undefined ? {} : { cursor }
      const page: DocumentPage<StoredRecord> = await this.#call.store(entityRecords).list({
        ...{ filter: { tenant_id, lens }, limit: page_size, fresh: true, ...next },
      })
      const lines: SnapshotLine[] = []
      for (const doc of page.docs) lines.push(...(await this.#linesOf(doc)))
      yield lines
      cursor = page.next_cursor
    } while (cursor !== undefined)
  }

  #first(): SnapshotLine[] {
    const { lens, run, weights } = this.#trainedLens
    const { route } = run.value
    const place = this.#placeOf(this.label)
    const body = { ...lens.value.body, id_field: run.value.id_field ?? lens.value.body.id_field }
    const told = { label: place.at, body, run_id: run.id, weights, ...(route ? { route } : {}) }
    return [...place.lines, { kind: 'lens', ...told }]
  }

  async #linesOf({ value }: Doc<StoredRecord>): Promise<SnapshotLine[]> {
    const { label, ref, values } = value
    if (value.entity === undefined || (await this.#crossing.refusal(label))) return []
    const entity = await this.#entityOf(value.entity)
    if (entity === undefined) return []
    const place = this.#placeOf(label)
    this.records++
    this.#shownEntities.add(entity)
    this.label = joinLabels(this.label, label, this.#call.site.labels) ?? this.label
    return [...place.lines, { kind: 'record', label: place.at, ref, values, entity }]
  }

  #placeOf(label: Label): { at: number; lines: SnapshotLine[] } {
    const key = labelKey(label)
    const known = this.#places.get(key)
    if (known !== undefined) return { at: known, lines: [] }
    const at = this.#places.size
    if (at === max_labels) throw new RangeError(`more than ${max_labels} labels`)
    this.#places.set(key, at)
    return { at, lines: [{ kind: 'label', label }] }
  }

  /** The id of an entity as the peer sees it; undefined for an entity that no longer exists. */
  async #entityOf(id: string): Promise<string | undefined> {
    if (this.#entities.has(id)) return this.#entities.get(id)
    const found = (await this.#call.store(entityClusters).find(id))?.value
    const isWhole = found !== undefined && !(await this.#crossing.refusal(found.label))
    const told = isWhole && isDerivedFromMembers(id, found) ? id : await this.#findPartialEntityId(id)
    this.#entities.set(id, told)
    return told
  }

  /** Made of the first of its records that the peer may see. */
  async #findPartialEntityId(entity: string): Promise<string | undefined> {
    const { tenant_id, lens } = this.#trainedLens.run.value
    const { docs } = await this.#call.store(entityRecords).list({
      ...{ filter: { tenant_id, lens, entity }, limit: page_size, fresh: true },
    })
    for (const { value } of docs) {
      if (!(await this.#crossing.refusal(value.label)))
        return clusterUid(tenant_id, lens, value.ref, partial_entity_turn)
    }
    return undefined
  }
}

/** Ids with a higher turn come only where the same record has begun that many entities. */
const max_turns = 4

/** Whether the id tells of none but the members: it is the digest of a record, which somebody could guess. */
function isDerivedFromMembers(
  id: string,
  { tenant_id, lens, members }: { tenant_id: string; lens: string; members: readonly RecordRef[] },
): boolean {
  const turns = Array.from({ length: max_turns }, (_, turn) => turn)
  return members.some((ref) => turns.some((turn) => clusterUid(tenant_id, lens, ref, turn) === id))
}

/** The label of the lens and of the run together, or why the peer may not know of them. */
export async function joinSourceLabels(
  call: Call,
  { lens, run }: TrainedLens,
  crossing: LabelCrossingCheck,
): Promise<Label | Refusal> {
  const label = joinLabels(run.value.label, lens.value.label, call.site.labels) ?? run.value.label
  const refused = await crossing.refusal(label)
  return isRefusal(refused) ? refused : label
}
