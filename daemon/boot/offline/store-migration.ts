// Moves a site's documents into the cluster, or back into its own files; the site stands still, and nothing is taken on trust.
import { createHash } from 'node:crypto'
import { type DocumentsHome, documentsHome, moveDocumentsHome } from '../../../adapters/store/sqlite/documents-home.ts'
import type { SqliteFile } from '../../../adapters/store/sqlite/file.ts'
import { canonical } from '../../kernel/canonical.ts'
import { searchSettings } from '../../kernel/engine-settings.ts'
import { refuse } from '../../kernel/errors.ts'
import type { Role } from '../../kernel/role.ts'
import type { Collection, Doc, Store, Stored } from '../../kernel/store.ts'
import { beginInCluster, inCluster } from '../documents.ts'
import { valuesOf } from '../profile.ts'
import type { SiteFolder } from '../site-folder.ts'
import { record } from './deed.ts'
import { Objection } from './objection.ts'
import { type RoleDatabase, rolesWithDatabase, withDatabase } from './role-database.ts'
import { type Environment, siteSettings } from './site-profile.ts'
import { lockAll } from './store-restore.ts'

/** What was moved of one collection. `digest`: SHA-256 over every id, version and value in the order of the ids. */
export type Moved = {
  readonly role: string
  readonly collection: string
  readonly documents: number
  readonly digest: string
}

export type Migration = {
  readonly to: DocumentsHome
  /** Whether documents that lie at the target, of an earlier move, may be removed first. */
  readonly replace: boolean
}

const chunk = 200

/**
 * Every role whose documents are not there yet. The copies are read back and compared before they count; what was there
 * stays, and counts no more. Throws `Objection`: 3 while a role runs or the target holds documents, 5 when the copies differ.
 */
export async function migrate(
  folder: SiteFolder,
  env: Environment,
  { to, replace }: Migration,
  progress: (text: string) => void,
): Promise<Moved[]> {
  const { resolved, platform } = siteSettings(folder, env)
  if (valuesOf(resolved, searchSettings).host === undefined) {
    throw new Objection(2, 'no cluster is named', 'set search.host; when moving back, remove it afterwards')
  }
  const locks = lockAll(folder)
  try {
    const moving = rolesWithDatabase(folder)
    const withEach = (role: Role, act: (move: RoleMove) => Promise<Moved[]>) =>
      withDatabase(folder, role, (database) => withBoth(folder, env, database, to, act), platform.name)
    // All are looked at before the first is moved: a site is in one place.
    for (const role of moving) await withEach(role, requireSources)
    if (!replace) for (const role of moving) await withEach(role, requireRoom)
    const moved: Moved[] = []
    for (const role of moving) {
      const done = await withEach(role, (move) => moveRole(move, to, progress))
      moved.push(...done)
      const detail = { role: role.name, documents: done.reduce((sum, { documents }) => sum + documents, 0) }
      if (done.length > 0) await record(folder, env, { action: 'site.store.migrate', target: to, detail })
    }
    return moved
  } finally {
    for (const lock of locks) lock.release()
  }
}

/** `lost`: indexes that the cluster should have. */
type RoleMove = {
  readonly role: Role
  readonly sqlite: SqliteFile
  readonly from: Store
  readonly into: Store
  readonly lost: readonly string[]
}

/** Nothing where the documents are there already. */
async function withBoth(
  folder: SiteFolder,
  env: Environment,
  { role, sqlite, audit, store }: RoleDatabase,
  to: DocumentsHome,
  act: (move: RoleMove) => Promise<Moved[]>,
): Promise<Moved[]> {
  if ((documentsHome(sqlite) ?? 'sqlite') === to) return []
  const { resolved, platform } = siteSettings(folder, env)
  if (to === 'opensearch') await beginInCluster(sqlite)
  const there = (await inCluster({ role, site: platform.name, resolved, file: sqlite, audit })).store
  try {
    for (const [collection, why] of await there.settle()) {
      throw refuse('unavailable', `writes of ${collection} of ${role.name} are in doubt: ${why}`)
    }
    const [from, into] = to === 'opensearch' ? [store, there] : [there, store]
    return await act({ role, sqlite, from, into, lost: await there.lost() })
  } finally {
    await there.close()
  }
}

async function requireSources({ role, lost }: RoleMove): Promise<Moved[]> {
  // Copies of the audit chain are not moved.
  const missing = lost.filter((index) => role.collections.some(({ name }) => index.endsWith(`.${role.name}.${name}`)))
  if (missing.length === 0) return []
  const remedy = 'restore them from a snapshot, or give them up: platform store adopt --give-up'
  throw new Objection(3, `the cluster lacks ${missing.join(', ')}`, remedy)
}

async function requireRoom({ role, into }: RoleMove): Promise<Moved[]> {
  for (const collection of role.collections) {
    const count = await into.count(collection, {}, { fresh: true })
    if (count === 0) continue
    const remedy = 'add --replace to remove them first, if they are of an earlier move'
    throw new Objection(3, `there are ${count} documents of ${collection.name} of ${role.name} already`, remedy)
  }
  return []
}

async function moveRole(
  { role, sqlite, from, into }: RoleMove,
  to: DocumentsHome,
  progress: (text: string) => void,
): Promise<Moved[]> {
  const moved: Moved[] = []
  for (const collection of role.collections) {
    progress(`moving ${collection.name} of ${role.name}`)
    await into.removeWhere(collection, {})
    moved.push({ role: role.name, collection: collection.name, ...(await moveAll(collection, from, into)) })
  }
  await moveDocumentsHome(sqlite, to)
  return moved
}

async function moveAll(collection: Collection, from: Store, into: Store) {
  const sent = newTally()
  for await (const docs of pages(collection, from)) {
    sent.add(docs)
    await into.load(collection, docs)
  }
  const arrived = newTally()
  for await (const docs of pages(collection, into)) arrived.add(docs)
  const [expected, found] = [sent.result(), arrived.result()]
  if (expected.documents === found.documents && expected.digest === found.digest) return expected
  throw new Objection(5, `the copies of ${collection.name} are not what was sent`, 'nothing has moved; run it again')
}

async function* pages(collection: Collection, store: Store): AsyncGenerator<readonly Doc<Stored>[]> {
  let cursor: string | undefined
  do {
    const page = await store.list(collection, {
      limit: chunk,
      fresh: true,
      ...(cursor === undefined ? {} : { cursor }),
    })
    // Both stores are compared by what their schema makes of a document: an older release may have left a default out.
    yield page.docs.map((doc) => ({ ...doc, value: collection.schema.parse(doc.value) }))
    cursor = page.next_cursor
  } while (cursor !== undefined)
}

function newTally() {
  const hash = createHash('sha256')
  let documents = 0
  return {
    add(docs: readonly Doc<Stored>[]) {
      for (const { id, version, value } of docs) hash.update(`${canonical([id, version, value])}\n`)
      documents += docs.length
    },
    result: () => ({ documents, digest: hash.copy().digest('hex') }),
  }
}
