// Writes the lines of a snapshot: only records that the caller and the peer may both see, and nothing that reveals
// others.

import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import { joinLabels, type Label, labelKey } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc, DocumentPage } from '../../../kernel/store/store.ts'
import { checkCrossing } from '../../../shared/label-crossing/label-crossing.ts'
import { isOfOtherForm } from '../engine/text/text-form.ts'
import { clusterUid, entityClusters } from '../entity-cluster/model.ts'
import { entityRecords, isWithdrawn, type StoredRecord } from '../entity-record/model.ts'
import { refuseOtherForm } from '../entity-record/refuse-other-form.ts'
import type { RecordRef } from '../fields.ts'
import type { TrainedLens } from '../lookup/trained-lens.ts'
import { isDeletedEntity } from '../withdrawal/entity-removal.ts'
import { max_labels, type SnapshotLine } from './model.ts'

const page_size = 500
/** For an entity that the peer sees in part: its own id may derive from a record that the peer must not know of. */
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

/** Generates the lines, and counts what they contain. */
export class SnapshotLines {
  readonly #call: Call
  readonly #trainedLens: TrainedLens
  readonly #crossing: LabelCrossingCheck
  readonly #labelIndexes = new Map<string, number>()
  readonly #entities = new Map<string, string | undefined>()
  readonly #shownEntities = new Set<string>()
  records = 0
  /** Joined label of all lines so far. */
  label: Label

  /** `label`: the joined label of the lens and the run in the first line. */
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
    const { at, lines } = this.#indexLabel(this.label)
    const body = { ...lens.value.body, id_field: run.value.id_field ?? lens.value.body.id_field }
    const content = { label: at, body, run_id: run.id, weights, ...(route ? { route } : {}) }
    return [...lines, { kind: 'lens', ...content }]
  }

  async #linesOf({ value }: Doc<StoredRecord>): Promise<SnapshotLine[]> {
    const { label, ref, values } = value
    if (value.entity === undefined || isWithdrawn(value) || (await this.#crossing.refusal(label))) return []
    // A snapshot is of one form, so that its receiver can judge it.
    if (isOfOtherForm(value)) throw refuseOtherForm(value.lens, ref)
    const entity = await this.#entityOf(value.entity)
    if (entity === undefined) return []
    const { at, lines } = this.#indexLabel(label)
    this.records++
    this.#shownEntities.add(entity)
    this.label = joinLabels(this.label, label, this.#call.site.labels) ?? this.label
    return [...lines, { kind: 'record', label: at, ref, values, entity }]
  }

  #indexLabel(label: Label): { at: number; lines: SnapshotLine[] } {
    const key = labelKey(label)
    const existing = this.#labelIndexes.get(key)
    if (existing !== undefined) return { at: existing, lines: [] }
    const at = this.#labelIndexes.size
    if (at === max_labels) throw new RangeError(`the snapshot has more than ${max_labels} labels`)
    this.#labelIndexes.set(key, at)
    return { at, lines: [{ kind: 'label', label }] }
  }

  /** The id of an entity as the peer sees it; undefined for an entity that no longer exists or is deleted. */
  async #entityOf(id: string): Promise<string | undefined> {
    if (this.#entities.has(id)) return this.#entities.get(id)
    const shownId = (await isDeletedEntity(this.#call, id)) ? undefined : await this.#nameEntity(id)
    this.#entities.set(id, shownId)
    return shownId
  }

  async #nameEntity(id: string): Promise<string | undefined> {
    const cluster = (await this.#call.store(entityClusters).find(id))?.value
    const isWhole = cluster !== undefined && !(await this.#crossing.refusal(cluster.label))
    return isWhole && isDerivedFromMembers(id, cluster) ? id : await this.#findPartialEntityId(id)
  }

  /** Derives an id from the first record of the entity that the peer may see. */
  async #findPartialEntityId(entity: string): Promise<string | undefined> {
    const { tenant_id, lens } = this.#trainedLens.run.value
    const { docs } = await this.#call.store(entityRecords).list({
      ...{ filter: { tenant_id, lens, entity }, limit: page_size, fresh: true },
    })
    for (const { value } of docs) {
      if (!isWithdrawn(value) && !(await this.#crossing.refusal(value.label)))
        return clusterUid(tenant_id, lens, value.ref, partial_entity_turn)
    }
    return undefined
  }
}

/** An id with a higher turn exists only where the same record has started that many entities. */
const max_turns = 4

/** Whether the id derives from a current member. Otherwise it would reveal the digest of another, guessable record. */
function isDerivedFromMembers(
  id: string,
  { tenant_id, lens, members }: { tenant_id: string; lens: string; members: readonly RecordRef[] },
): boolean {
  const turns = Array.from({ length: max_turns }, (_, turn) => turn)
  return members.some((ref) => turns.some((turn) => clusterUid(tenant_id, lens, ref, turn) === id))
}

/** Joins the labels of the lens and the run; refuses a label that may not cross to the peer. */
export async function joinSourceLabels(
  call: Call,
  { lens, run }: TrainedLens,
  crossing: LabelCrossingCheck,
): Promise<Label | Refusal> {
  const label = joinLabels(run.value.label, lens.value.label, call.site.labels) ?? run.value.label
  const refused = await crossing.refusal(label)
  return isRefusal(refused) ? refused : label
}
