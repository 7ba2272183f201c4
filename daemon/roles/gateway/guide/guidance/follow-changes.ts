// Keeps the artifacts in memory in step with the store: reads what has changed since, and everything now and then.
import type { Call } from '../../../../kernel/operation/call.ts'
import { sliceRunner } from '../../../../kernel/role/run-in-slices.ts'
import { iterateDocuments } from '../../../../kernel/store/iterate-documents.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import { type Artifact, artifacts } from '../artifact/model.ts'
import { loadHoldoutKey } from '../holdout/load-key.ts'
import type { ArtifactChange, ArtifactIndex } from './artifact-index.ts'
import { guidancePart } from './parts.ts'
import { indexArtifact } from './rules.ts'

/** The clocks of processes differ, and a write takes a while: what is so old may still appear. */
const overlap_ms = 5_000
/** After which everything is read again, in case that a change has slipped through. */
const reload_ms = 300_000
/** Looks in a row that find another number in the store: a cluster counts a write after a second. */
const max_differences = 3

export class ArtifactFollowing {
  readonly #call: Call
  #loaded_at = Number.NEGATIVE_INFINITY
  #newest_ts = 0
  #differences = 0
  /** Versions that were read within the overlap. */
  #seen = new Map<string, number>()
  /** Versions of the artifacts in memory. */
  #versions = new Map<string, number>()

  constructor(call: Call) {
    this.#call = call
  }

  async look(): Promise<void> {
    if (this.#call.now() - this.#loaded_at < reload_ms) {
      this.#differences = (await this.#readChanges()) ? 0 : this.#differences + 1
      if (this.#differences < max_differences) return
    }
    this.#differences = 0
    await this.#readAll()
  }

  /** Returns false where the index and the store do not have the same number afterwards. */
  async #readChanges(): Promise<boolean> {
    const order = { field: 'update_ts', direction: 'asc' } as const
    const query = { filter: { update_ts: { gte: this.#newest_ts - overlap_ms } }, order, fresh: true }
    const docs: Doc<Artifact>[] = []
    const seen = new Map<string, number>()
    for await (const doc of iterateDocuments(this.#call.store(artifacts), query)) {
      if (this.#seen.get(doc.id) !== doc.version) docs.push(doc)
      seen.set(doc.id, doc.version)
      this.#newest_ts = Math.max(this.#newest_ts, doc.value.update_ts)
    }
    this.#seen = seen
    for (const { id, version } of docs) this.#versions.set(id, version)
    await this.#apply(docs.map(toChange))
    const { index } = this.#call.part(guidancePart)
    return (await this.#call.store(artifacts).count({ status: 'active' })) === index.size
  }

  async #readAll(): Promise<void> {
    const { index } = this.#call.part(guidancePart)
    const versions = new Map<string, number>()
    const changes: ArtifactChange[] = []
    const run = sliceRunner(this.#call)
    const query = { filter: { status: 'active' }, fresh: true }
    for await (const doc of iterateDocuments(this.#call.store(artifacts), query)) {
      versions.set(doc.id, doc.version)
      if (this.#versions.get(doc.id) !== doc.version) await run(indexInTurn(doc, changes))
      this.#newest_ts = Math.max(this.#newest_ts, doc.value.update_ts)
    }
    const gone = [...index.listIds()].filter((id) => !versions.has(id)).map((id) => ({ id, artifact: undefined }))
    await this.#apply([...changes, ...gone])
    this.#versions = versions
    this.#seen = new Map()
    // Nothing is attached before: it would be neither with nor without an artifact by chance.
    await loadHoldoutKey(this.#call)
    this.#loaded_at = this.#call.now()
    index.isLoaded = true
  }

  /** Sets that are in use are selected again at once, so that no request waits for them. */
  async #apply(changes: readonly ArtifactChange[]): Promise<void> {
    const { index } = this.#call.part(guidancePart)
    const run = sliceRunner(this.#call)
    await run(applyInTurns(index, changes, this.#call.now()))
  }
}

/** Of one turn of the event loop. */
const changes_per_step = 100

function* applyInTurns(
  index: ArtifactIndex,
  changes: readonly ArtifactChange[],
  now: number,
): Generator<undefined, void> {
  const readers = [...index.takeLate()]
  for (let at = 0; at < changes.length; at += changes_per_step) {
    readers.push(...index.apply(changes.slice(at, at + changes_per_step), now))
    yield
  }
  for (const reader of readers) {
    index.prepare(reader)
    yield
  }
}

function* indexInTurn(doc: Doc<Artifact>, changes: ArtifactChange[]): Generator<undefined, void> {
  yield
  changes.push(toChange(doc))
}

/** A record of the layer itself counts as active, and is in no set. */
function toChange({ id, value }: Doc<Artifact>): ArtifactChange {
  const isActive = value.status === 'active'
  return { id, artifact: isActive ? indexArtifact(id, value) : undefined }
}
