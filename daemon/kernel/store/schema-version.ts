// Versions of stored documents: the steps that bring documents of earlier releases to the form of this one, and the guard
// against documents of a later release.
import type { StoredFields } from './store.ts'

/** A step from the version before to `to`. */
export type DocumentMigration = {
  readonly to: number
  /** The change, for release notes and for the plan of an upgrade. */
  readonly summary: string
  /**
   * Pure, and without an effect on a document that has the new form already: a cluster repeats a step that was
   * interrupted. Absent: the documents stay as they are, but an earlier release cannot read those that this one writes.
   */
  readonly change?: (value: StoredFields) => StoredFields
}

/** A collection as far as versions are concerned. */
export type VersionedCollection = {
  readonly name: string
  readonly migrations?: readonly DocumentMigration[]
}

/** Version of the documents of a collection, with the release that recorded it. */
export type RecordedVersion = { readonly collection: string; readonly version: number; readonly release: string }

/** Version of the documents of a collection that has had no migration, and of those that releases before 1.1.0 wrote. */
export const first_version = 1

/** The version that this release writes. */
export function versionOf({ name, migrations = [] }: VersionedCollection): number {
  for (const [at, { to }] of migrations.entries()) {
    const before = at === 0 ? first_version : (migrations[at - 1]?.to ?? first_version)
    if (to !== before + 1) throw new Error(`the migrations of ${name} are not in order: ${to} follows ${before}`)
  }
  return migrations.at(-1)?.to ?? first_version
}

/** The steps that documents of a version lack, in order. */
export function pendingMigrations(
  { migrations = [] }: VersionedCollection,
  version: number,
): readonly DocumentMigration[] {
  return migrations.filter(({ to }) => to > version)
}

export function applyMigrations(steps: readonly DocumentMigration[], value: StoredFields): StoredFields {
  return steps.reduce((current, { change }) => (change ? change(current) : current), value)
}

/** A collection that a later release wrote in a form that this one does not know; `known` is 0 for an unknown collection. */
export type NewerCollection = RecordedVersion & { readonly known: number }

/**
 * The collections that only a later release can read. A collection that this release does not have counts if a later
 * release recorded it, and is left alone if an earlier one did.
 */
export function findNewerCollections(
  recorded: readonly RecordedVersion[],
  collections: readonly VersionedCollection[],
  release: string,
): NewerCollection[] {
  return recorded.flatMap((each) => {
    const own = collections.find(({ name }) => name === each.collection)
    const isNewer = own ? each.version > versionOf(own) : compareReleases(each.release, release) > 0
    return isNewer ? [{ ...each, known: own ? versionOf(own) : 0 }] : []
  })
}

/** Names both releases and the versions of the documents. */
export function describeNewerCollections(newer: readonly NewerCollection[], role: string, release: string): string {
  const writer = newer
    .map((each) => each.release)
    .toSorted(compareReleases)
    .at(-1)
  const list = newer.map(
    ({ collection, version, known }) => `${collection} has version ${version}, and ${known || 'none'} is known`,
  )
  return `release ${writer} wrote the documents of ${role}, and release ${release} cannot read them (${list.join('; ')}): run ${writer} or later, or restore a backup that ${release} made`
}

/** Compares by the three numbers; a pre-release comes before its release. */
export function compareReleases(one: string, other: string): number {
  const [a, b] = [parseRelease(one), parseRelease(other)]
  for (const at of [0, 1, 2]) {
    const difference = (a.numbers[at] ?? 0) - (b.numbers[at] ?? 0)
    if (difference !== 0) return difference
  }
  if (a.suffix === b.suffix) return 0
  if (a.suffix === '' || b.suffix === '') return a.suffix === '' ? 1 : -1
  return a.suffix < b.suffix ? -1 : 1
}

function parseRelease(text: string) {
  const [core = '', suffix = ''] = text.split('+')[0]?.split(/-(.*)/s) ?? []
  return { numbers: core.split('.').map(Number), suffix }
}
