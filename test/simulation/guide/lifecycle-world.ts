// Artifacts under random operations of many parties at once, on a store that fails: what must hold of them afterwards.
import { expect } from 'vitest'
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import type { Call } from '../../../daemon/kernel/operation/call.ts'
import type { Doc, Store } from '../../../daemon/kernel/store/store.ts'
import {
  demoteArtifact,
  editArtifact,
  flagArtifact,
  forgetArtifact,
  promoteArtifact,
  rollbackArtifact,
} from '../../../daemon/roles/gateway/guide/artifact/change-artifacts.ts'
import { finishAll } from '../../../daemon/roles/gateway/guide/artifact/finish-changes.ts'
import {
  type Artifact,
  type ArtifactStatus,
  artifactHistory,
  artifacts,
  versionId,
} from '../../../daemon/roles/gateway/guide/artifact/model.ts'
import { persistScore } from '../../../daemon/roles/gateway/guide/artifact/persist-score.ts'
import { proposeArtifact } from '../../../daemon/roles/gateway/guide/artifact/propose-artifact.ts'
import type { AuditAction, ChangeGround } from '../../../daemon/roles/gateway/guide/audit/entry.ts'
import { guideAudits } from '../../../daemon/roles/gateway/guide/audit/model.ts'
import { proposalId, proposals } from '../../../daemon/roles/gateway/guide/proposal/model.ts'
import { pairingDraft } from '../../support/guide/drafts.ts'
import { createGuideCall } from '../../support/guide/guide-call.ts'
import { type SeededRandom, seededRandom } from '../../support/random/seeded-random.ts'

export class StoreCrashError extends Error {}

export type LifecycleRun = {
  readonly seed: number
  readonly rounds: number
  /** Operations at the same time in one round. */
  readonly parties: number
  /** Share of the writes that fail: before or after they have had their effect. */
  readonly failing: number
}

const weights = { promote: 5, demote: 4, forget: 2, edit: 3, rollback: 3, flag: 1, score: 2, propose: 1, finish: 2 }
type Action = keyof typeof weights

/** From the status before to that after, by the action of the record: the table of document 002 once more. */
const allowed: Readonly<Partial<Record<AuditAction, readonly `${ArtifactStatus} ${ArtifactStatus}`[]>>> = {
  promote: ['proposed active', 'active active', 'demoted active'],
  demote: ['active demoted'],
  forget: ['demoted forgotten', 'proposed forgotten'],
  edit: ['proposed proposed', 'active active', 'demoted demoted'],
  upstream_flag: ['proposed proposed', 'active active', 'demoted demoted'],
}

export async function runLifecycle(store: Store, run: LifecycleRun): Promise<LifecycleWorld> {
  const world = new LifecycleWorld(store, run)
  for (let at = 0; at < 3; at += 1) await world.perform('propose')
  for (let round = 0; round < run.rounds; round += 1)
    await Promise.all(Array.from({ length: run.parties }, () => world.perform()))
  await world.verify()
  return world
}

export class LifecycleWorld {
  readonly #store: Store
  readonly #run: LifecycleRun
  readonly #random: SeededRandom
  #now = Date.parse('2026-03-01T12:00:00Z')
  #ids: string[] = []
  /** By id of version: what a caller has been answered, as text. */
  readonly #answered = new Map<string, string>()
  readonly counts = { done: 0, refused: 0, crashed: 0 }

  constructor(store: Store, run: LifecycleRun) {
    this.#store = store
    this.#run = run
    this.#random = seededRandom(run.seed)
  }

  #call(isFailing: boolean): Call {
    const { below } = this.#random
    return createGuideCall({
      store: isFailing ? failingStore(this.#store, this.#random, this.#run.failing) : this.#store,
      now: () => ++this.#now,
      random: (bytes) => Array.from({ length: bytes * 2 }, () => below(16).toString(16)).join(''),
    })
  }

  async perform(action: Action = this.#random.weighted(weights)): Promise<void> {
    try {
      const outcome = await this.#perform(action, this.#call(true))
      if (isRefusal(outcome)) this.counts.refused += 1
      else this.counts.done += 1
      if (outcome && !isRefusal(outcome)) this.#remember(outcome)
    } catch (error) {
      if (!(error instanceof StoreCrashError)) throw error
      this.counts.crashed += 1
    }
  }

  #remember({ id, value }: Doc<Artifact>): void {
    const key = versionId(id, value.version)
    const text = describeVersion(value)
    expect(this.#answered.get(key) ?? text).toBe(text)
    this.#answered.set(key, text)
  }

  async #perform(action: Action, call: Call) {
    const { pick, below, happens } = this.#random
    const ground: ChangeGround = { actor: pick(['admin:ada', 'curator_auto']), trigger: 'synthesis_proposal' }
    if (action === 'propose') return await this.#propose(call, ground)
    const id = pick(this.#ids)
    const others = happens(0.3) ? this.#ids.filter((other) => other !== id && happens(0.3)) : []
    switch (action) {
      case 'promote':
        return await promoteArtifact(call, id, ground, others)
      case 'demote':
        return await demoteArtifact(call, id, ground)
      case 'forget':
        return await forgetArtifact(call, id, ground)
      case 'edit':
        return await editArtifact(call, id, ground, { notes: `note ${below(1_000)}` })
      case 'rollback':
        return await rollbackArtifact(call, id, ground, 1 + below(8))
      case 'flag':
        return await flagArtifact(call, id, ground)
      case 'score': {
        const terms = { l3_error: 0, l3_schema_mismatch: 0, user_feedback: 0, evaluator_confidence: 0 }
        await persistScore(call, id, { evaluator_score: below(100) / 100, score_decomposition: terms, low_scores: 0 })
        return undefined
      }
      case 'finish':
        return await finishAll(call)
    }
  }

  async #propose(call: Call, ground: ChangeGround): Promise<Doc<Artifact> | undefined> {
    if (this.#ids.length >= 6) return undefined
    const key = `draft ${this.#ids.length}`
    const outcome = await proposeArtifact(call, pairingDraft({ key, confidence: this.#random.below(10) / 10 }), ground)
    if (isRefusal(outcome)) throw outcome
    if (!this.#ids.includes(outcome.doc.id)) this.#ids.push(outcome.doc.id)
    return outcome.isNew ? outcome.doc : undefined
  }

  /** After a restart without failures: no version is lost, none has two contents, and each change has its record. */
  async verify(): Promise<void> {
    const call = this.#call(false)
    for (let at = 0; at < 8; at += 1) await finishAll(call)
    expect(await this.#store.count(artifacts, { follow_up: true }, { fresh: true })).toBe(0)
    for (const { id, value } of (await this.#store.list(artifacts, { limit: 50, fresh: true })).docs) {
      const versions = await this.#loadVersions(id, value)
      for (const version of versions) {
        const key = versionId(id, version.version)
        expect(this.#answered.get(key) ?? describeVersion(version), key).toBe(describeVersion(version))
      }
      await this.#verifyRecords(id, versions)
      await this.#verifySuperseded(value)
    }
  }

  async #loadVersions(id: string, current: Artifact): Promise<Artifact[]> {
    // A crash may leave a copy of the current version, which the next change would have made.
    const filter = { artifact_id: id, version: { lt: current.version } }
    expect(await this.#store.count(artifactHistory, filter, { fresh: true })).toBe(current.version - 1)
    const versions: Artifact[] = []
    for (let version = 1; version < current.version; version += 1) {
      const doc = await this.#store.get(artifactHistory, versionId(id, version))
      expect(doc?.value.version, `version ${version} of ${id}`).toBe(version)
      if (doc) versions.push(doc.value)
    }
    return [...versions, current]
  }

  async #verifyRecords(id: string, versions: readonly Artifact[]): Promise<void> {
    expect(await this.#store.count(guideAudits, { artifact_id: id }, { fresh: true })).toBe(versions.length)
    for (const [at, version] of versions.entries()) {
      const record = (await this.#store.get(guideAudits, versionId(id, version.version)))?.value
      const before = versions[at - 1]
      expect(record, versionId(id, version.version)).toMatchObject({
        actor: version.actor,
        artifact_type: version.type,
      })
      expect(record?.before_version_id ?? null).toBe(version.prev_version_id)
      expect(version.prev_version_id).toBe(before ? versionId(id, before.version) : null)
      expect(record?.rationale).not.toBe('')
      const step = `${before?.status} ${version.status}` as const
      if (before && record?.action !== 'rollback') expect(allowed[record?.action as AuditAction]).toContain(step)
    }
    const proposal = (await this.#store.get(proposals, proposalId(id)))?.value
    const isOpen = versions.every(({ status }) => status === 'proposed')
    expect(proposal?.status === 'open').toBe(isOpen)
  }

  async #verifySuperseded({ status, supersedes }: Artifact): Promise<void> {
    if (status !== 'active') return
    for (const listed of supersedes) {
      const other = await this.#store.get(artifacts, listed)
      expect(other?.value.status, `${listed}, which an active artifact lists`).not.toBe('active')
    }
  }
}

/** Scores are no part of a version, nor is what follows from it. */
function describeVersion(artifact: Artifact): string {
  const { content, pending_audit: _, follow_up: __, low_scores: ___, ...fields } = artifact
  const { evaluator_score: ____, score_decomposition: _____, ...rest } = content
  const { artifact_id: ______, ...plain } = fields as Record<string, unknown>
  return JSON.stringify({ ...plain, content: rest }, (_key, value) =>
    value && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([x], [y]) => (x < y ? -1 : 1)))
      : value,
  )
}

const writing_methods = ['create', 'put', 'update', 'remove'] as const

/** A store whose process ends at a write: with or without the effect of that write. */
/** The process of this store ends in one of its writes, before it or after it. */
export function failingStore(store: Store, random: SeededRandom, failing: number): Store {
  let isDead = false
  return new Proxy(store, {
    get(target, name: keyof Store) {
      const method = target[name] as unknown
      if (typeof method !== 'function') return method
      return async (...given: unknown[]) => {
        if (isDead) throw new StoreCrashError('the process has ended')
        const isWrite = (writing_methods as readonly string[]).includes(name)
        if (!isWrite || !random.happens(failing)) return await method.apply(target, given)
        isDead = true
        if (random.happens(0.5)) await method.apply(target, given)
        throw new StoreCrashError(`the process ends in ${name}`)
      }
    },
  })
}
