// The lifecycle of artifacts as a plain model in memory: statuses by version, and lists of superseded ones.
import type { ArtifactStatus } from '../../../daemon/roles/gateway/guide/artifact/model.ts'

type ModelVersion = { readonly status: ArtifactStatus; readonly supersedes: readonly string[]; readonly notes: string }
type ModelArtifact = { readonly versions: ModelVersion[]; superseded_by: string | undefined; isPending: boolean }

export type ModelChange =
  | { readonly action: 'promote'; readonly supersedes: readonly string[] }
  | { readonly action: 'demote' | 'forget' | 'flag' }
  | { readonly action: 'edit'; readonly notes: string }
  | { readonly action: 'rollback'; readonly version: number }

const from: Readonly<Record<ModelChange['action'], readonly ArtifactStatus[]>> = {
  promote: ['proposed', 'active', 'demoted'],
  demote: ['active'],
  forget: ['proposed', 'demoted'],
  flag: ['proposed', 'active', 'demoted'],
  edit: ['proposed', 'active', 'demoted'],
  rollback: ['proposed', 'active', 'demoted', 'forgotten'],
}

export class LifecycleModel {
  readonly #artifacts = new Map<string, ModelArtifact>()

  propose(id: string): void {
    const first: ModelVersion = { status: 'proposed', supersedes: [], notes: '' }
    this.#artifacts.set(id, { versions: [first], superseded_by: undefined, isPending: true })
  }

  show(id: string): { readonly version: number; readonly status: ArtifactStatus; readonly notes: string } {
    const { versions } = this.#artifact(id)
    const { status, notes } = this.#current(id)
    return { version: versions.length, status, notes }
  }

  /** Whether the change is allowed, and has been made. */
  change(id: string, change: ModelChange): boolean {
    const current = this.#current(id)
    if (!from[change.action].includes(current.status)) return false
    switch (change.action) {
      case 'promote':
        return this.#activate(id, [...current.supersedes, ...change.supersedes], current.notes)
      case 'demote':
        return this.#push(id, { ...current, status: 'demoted' })
      case 'forget':
        return this.#push(id, { ...current, status: 'forgotten' })
      case 'flag':
        return this.#push(id, current)
      case 'edit':
        return this.#push(id, { ...current, notes: change.notes })
      case 'rollback':
        return this.#rollBack(id, change.version)
    }
  }

  #rollBack(id: string, version: number): boolean {
    const { versions } = this.#artifact(id)
    const to = versions[version - 1]
    if (!to || version === versions.length || to.status === 'forgotten') return false
    return to.status === 'active' ? this.#activate(id, to.supersedes, to.notes) : this.#push(id, to)
  }

  #activate(id: string, supersedes: readonly string[], notes: string): boolean {
    const known = this.#artifact(id)
    const isHiddenBy = (other: string | undefined) =>
      other !== undefined && this.#current(other).status === 'active' && this.#current(other).supersedes.includes(id)
    if (isHiddenBy(known.superseded_by) || supersedes.some(isHiddenBy)) return false
    known.superseded_by = undefined
    const isKept = (other: string) =>
      this.#current(other).status === 'active' || this.#artifact(other).superseded_by === id
    return this.#push(id, { status: 'active', supersedes: [...new Set(supersedes)].filter(isKept), notes })
  }

  /** The worker: by id, as the store lists them. */
  finish(): void {
    const listed = [...this.#artifacts.keys()].filter((id) => this.#artifact(id).isPending).toSorted()
    for (const id of listed) {
      const { status, supersedes } = this.#current(id)
      if (status === 'active') for (const other of supersedes) this.#supersede(other, id)
      this.#artifact(id).isPending = false
    }
  }

  #supersede(id: string, by: string): void {
    const current = this.#current(id)
    if (current.status !== 'active') return
    this.#push(id, { ...current, status: 'demoted' })
    this.#artifact(id).superseded_by = by
  }

  #push(id: string, version: ModelVersion): boolean {
    const known = this.#artifact(id)
    known.versions.push(version)
    known.isPending = true
    return true
  }

  #artifact(id: string): ModelArtifact {
    const known = this.#artifacts.get(id)
    if (!known) throw new Error(`the model has no ${id}`)
    return known
  }

  #current(id: string): ModelVersion {
    return this.#artifact(id).versions.at(-1) as ModelVersion
  }
}
