// Moves a site's documents into the cluster, or back into its own files, while the site is stopped; verifies every
// copy.
import { createHash } from 'node:crypto'
import * as z from 'zod'
import {
  type DocumentsHome,
  readDocumentsHome,
  recordDocumentsHome,
} from '../../../adapters/store/sqlite/documents/documents-home.ts'
import type { SqliteFile } from '../../../adapters/store/sqlite/sqlite-file.ts'
import { openKnownCluster, resetClusterState } from '../../boot/storage/documents.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import { canonicalJson } from '../../kernel/encoding/canonical-json.ts'
import { refuse } from '../../kernel/error/errors.ts'
import type { Role } from '../../kernel/role/role.ts'
import { searchSettings } from '../../kernel/settings/backing-service-settings.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import type { Collection, Doc, Store, StoredFields } from '../../kernel/store/store.ts'
import { recordOperatorAction } from '../audit/operator-action.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { type RoleTaskContext, roleTask } from '../role-task/role-task.ts'
import { runRoleTask } from '../role-task/run-role-task.ts'
import { type EnvironmentVariables, readSiteSettings } from '../site/site-profile.ts'
import { listRolesWithDatabase, type RoleDatabase, withDatabase } from './role-database.ts'
import { lockAllRoles, releaseLocks } from './role-locks.ts'

/** The moved part of one collection. */
const collectionMigration = z
  .strictObject({
    role: z.string(),
    collection: z.string(),
    documents: z.int().min(0),
    digest: z.string().meta({ description: 'SHA-256 over every id, version and value in the order of the ids' }),
  })
  .readonly()
export type CollectionMigration = z.infer<typeof collectionMigration>

export type MigrationOptions = {
  readonly to: DocumentsHome
  /** Whether documents of an earlier move at the target may be removed first. */
  readonly replace: boolean
}

const page_size = 200

/**
 * Moves the documents of every role that are not there yet. The copies are read back and compared before they take
 * effect; the originals stay, unused. Throws `OfflineCommandError`: 3 while a role runs or if the target has
 * documents, 5 if the copies differ.
 */
export async function migrateStore(
  folder: SiteFolder,
  env: EnvironmentVariables,
  { to, replace }: MigrationOptions,
  progress: (text: string) => void,
): Promise<CollectionMigration[]> {
  const { resolved } = readSiteSettings(folder, env)
  if (getSettings(resolved, searchSettings).host === undefined) {
    throw new OfflineCommandError(2, 'the profile names no cluster', 'set search.host; after a move back, remove it')
  }
  const locks = await lockAllRoles(folder)
  try {
    const roles = listRolesWithDatabase(folder)
    // Checks all roles before the first move: a site is in one place.
    for (const role of roles) await runRoleTask(checkMigration, { folder, env, role }, { to, check: 'source' })
    if (!replace)
      for (const role of roles) await runRoleTask(checkMigration, { folder, env, role }, { to, check: 'target' })
    const moved: CollectionMigration[] = []
    for (const role of roles) {
      const migrated = await runRoleTask(migrateDocuments, { folder, env, role }, { to }, progress)
      moved.push(...migrated)
      const detail = { role: role.name, documents: migrated.reduce((sum, { documents }) => sum + documents, 0) }
      if (migrated.length > 0)
        await recordOperatorAction(folder, env, { action: 'site.store.migrate', target: to, detail })
    }
    return moved
  } finally {
    await releaseLocks(locks)
  }
}

const documentsHome = z.enum(['sqlite', 'opensearch'])

export const checkMigration = roleTask({
  name: 'check-migration',
  input: z.strictObject({ to: documentsHome, check: z.enum(['source', 'target']) }),
  event: z.never(),
  output: z.null(),
  async run(context, { to, check }) {
    await withBothStores(context, to, check === 'source' ? requireSourceIndexes : requireEmptyTarget)
    return null
  },
})

/** Emits progress. */
export const migrateDocuments = roleTask({
  name: 'migrate-documents',
  input: z.strictObject({ to: documentsHome }),
  event: z.string(),
  output: z.array(collectionMigration),
  run: (context, { to }, emit) => withBothStores(context, to, (move) => moveRoleDocuments(move, to, emit)),
})

/** `lost`: indexes that the cluster should have. */
type RoleMigration = {
  readonly role: Role
  readonly sqlite: SqliteFile
  readonly from: Store
  readonly target: Store
  readonly lost: readonly string[]
}

/** Does nothing if the documents are there already. */
async function withBothStores(
  { folder, env, role: outline }: RoleTaskContext,
  to: DocumentsHome,
  action: (move: RoleMigration) => Promise<CollectionMigration[]>,
): Promise<CollectionMigration[]> {
  const { resolved, platform } = readSiteSettings(folder, env)
  const moveBetween = async ({ role, sqlite, audit, store }: RoleDatabase) => {
    if ((readDocumentsHome(sqlite) ?? 'sqlite') === to) return []
    if (to === 'opensearch') await resetClusterState(sqlite)
    const clusterStore = (await openKnownCluster({ role, site: platform.name, resolved, file: sqlite, audit })).store
    try {
      for (const [collection, reason] of await clusterStore.resolveWrites()) {
        throw refuse('unavailable', `writes of ${collection} of ${role.name} are in doubt: ${reason}`)
      }
      const [from, target] = to === 'opensearch' ? [store, clusterStore] : [clusterStore, store]
      return await action({ role, sqlite, from, target, lost: await clusterStore.findLostIndexes() })
    } finally {
      await clusterStore.close()
    }
  }
  return await withDatabase(folder, outline, moveBetween, platform.name)
}

async function requireSourceIndexes({ role, lost }: RoleMigration): Promise<CollectionMigration[]> {
  // Copies of the audit chain are not moved.
  const missingIndexes = lost.filter((index) =>
    role.collections.some(({ name }) => index.endsWith(`.${role.index_family ?? role.name}.${name}`)),
  )
  if (missingIndexes.length === 0) return []
  const remedy = 'restore them from a snapshot, or give them up: platform store adopt --give-up'
  throw new OfflineCommandError(3, `the cluster lacks ${missingIndexes.join(', ')}`, remedy)
}

async function requireEmptyTarget({ role, target }: RoleMigration): Promise<CollectionMigration[]> {
  for (const collection of role.collections) {
    const count = await target.count(collection, {}, { fresh: true })
    if (count === 0) continue
    const remedy = 'add --replace to remove them first, if they are of an earlier move'
    throw new OfflineCommandError(
      3,
      `the destination already has ${count} documents in ${collection.name} of ${role.name}`,
      remedy,
    )
  }
  return []
}

async function moveRoleDocuments(
  { role, sqlite, from, target }: RoleMigration,
  to: DocumentsHome,
  progress: (text: string) => Promise<void>,
): Promise<CollectionMigration[]> {
  const moved: CollectionMigration[] = []
  for (const collection of role.collections) {
    await progress(`moving ${collection.name} of ${role.name}`)
    await target.removeWhere(collection, {})
    moved.push({ role: role.name, collection: collection.name, ...(await moveCollection(collection, from, target)) })
  }
  await recordDocumentsHome(sqlite, to)
  return moved
}

async function moveCollection(collection: Collection, from: Store, target: Store) {
  const sent = createDigestTally()
  for await (const docs of readPages(collection, from)) {
    sent.add(docs)
    await target.load(collection, docs)
  }
  const arrived = createDigestTally()
  for await (const docs of readPages(collection, target)) arrived.add(docs)
  const [expected, found] = [sent.result(), arrived.result()]
  if (expected.documents === found.documents && expected.digest === found.digest) return expected
  throw new OfflineCommandError(
    5,
    `the copies of ${collection.name} differ from the originals`,
    'nothing was moved; run it again',
  )
}

async function* readPages(collection: Collection, store: Store): AsyncGenerator<readonly Doc<StoredFields>[]> {
  let cursor: string | undefined
  do {
    const page = await store.list(collection, {
      limit: page_size,
      fresh: true,
      ...(cursor === undefined ? {} : { cursor }),
    })
    // Compares documents after parsing them by their schema: an older release may have omitted a default.
    yield page.docs.map((doc) => ({ ...doc, value: collection.schema.parse(doc.value) }))
    cursor = page.next_cursor
  } while (cursor !== undefined)
}

function createDigestTally() {
  const hash = createHash('sha256')
  let documents = 0
  return {
    add(docs: readonly Doc<StoredFields>[]) {
      for (const { id, version, value } of docs) hash.update(`${canonicalJson([id, version, value])}\n`)
      documents += docs.length
    },
    result: () => ({ documents, digest: hash.copy().digest('hex') }),
  }
}
