// Lists the audit chains of the roles' database files, and verifies them against the site's signed checkpoints.
import * as z from 'zod'
import { listKeys } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { verifyJws } from '../../../adapters/keys/jose/signatures.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import {
  type AuditQuery,
  type AuditRecord,
  auditRecord,
  type ChainFault,
  type ChainHead,
} from '../../kernel/audit/audit-chain.ts'
import type { PublicKey } from '../../kernel/cryptography/signatures.ts'
import { type CarriedCheckpoint, carriedCheckpoint } from '../../kernel/messaging/inventory.ts'
import type { RoleOutline } from '../../kernel/role/role.ts'
import type { StoredFields } from '../../kernel/store/store.ts'
import { findCheckpointFault } from '../../shared/audit-checkpoint/find-checkpoint-fault.ts'
import { roleTask } from '../role-task/role-task.ts'
import { runRoleTask } from '../role-task/run-role-task.ts'
import { type EnvironmentVariables, readSiteSettings } from '../site/site-profile.ts'
import { listRolesWithDatabase, type RoleDatabase, withDatabase } from '../store/role-database.ts'
import { readExportedHeads } from './audit-export-verification.ts'

const page_size = 500

/** Roles with a chain at this site. */
export function listAuditedRoles(folder: SiteFolder): RoleOutline[] {
  return listRolesWithDatabase(folder)
}

/** Reads a chain oldest first, in batches, so that a long chain needs little memory. */
export async function forEachAuditRecord(
  folder: SiteFolder,
  role: RoleOutline,
  query: Pick<AuditQuery, 'since' | 'until'>,
  visit: (record: AuditRecord) => void,
): Promise<void> {
  await runRoleTask(listAuditRecords, { folder, env: {}, role }, { ...query, after_seq: 0 }, (records) => {
    for (const record of records) visit(record)
  })
}

/** Emits the records after `after_seq`, to `last` at most, oldest first, in batches. */
export const listAuditRecords = roleTask({
  name: 'list-audit-records',
  input: z.strictObject({
    ...{ since: z.iso.datetime().optional(), until: z.iso.datetime().optional() },
    ...{ after_seq: z.int().min(0), last: z.int().optional() },
  }),
  event: z.array(auditRecord).max(page_size),
  output: z.null(),
  run: ({ folder, role }, { after_seq, last = Number.MAX_SAFE_INTEGER, since, until }, emit) =>
    withDatabase(folder, role, async ({ audit }) => {
      const span = { ...(since ? { since } : {}), ...(until ? { until } : {}) }
      for (let seq = after_seq; seq < last; ) {
        const limit = Math.min(page_size, last - seq)
        const records = await audit.list({ ...span, limit, ascending: true, after_seq: seq })
        for (const batch of splitIntoBatches(records)) await emit(batch)
        if (records.length < limit) break
        seq = records.at(-1)?.seq ?? last
      }
      return null
    }),
})

/** One record may describe a request of several megabytes, and one message holds a batch. */
function splitIntoBatches(records: readonly AuditRecord[]): AuditRecord[][] {
  const batches: AuditRecord[][] = []
  let size = max_batch_characters
  for (const record of records) {
    const length = JSON.stringify(record).length
    if (size + length > max_batch_characters) {
      batches.push([])
      size = 0
    }
    batches.at(-1)?.push(record)
    size += length
  }
  return batches
}

const max_batch_characters = 1_048_576

const chainVerdict = z
  .strictObject({
    writer: z.string(),
    records: z.int().min(0),
    checkpoints: z.int().min(0).meta({ description: 'Number of checkpoints that the chain was compared with' }),
    faults: z.array(z.string()).readonly(),
  })
  .readonly()
export type ChainVerdict = z.infer<typeof chainVerdict>

/**
 * Verifies every chain of the site; `progress` is called for each batch. `exported`: file of an earlier export, kept
 * elsewhere, whose last record of each chain must still be present. Throws `OfflineCommandError` (5) if it is not an
 * export of this site, or holds no record.
 */
export async function verifyAuditChains(
  folder: SiteFolder,
  env: EnvironmentVariables,
  progress: (text: string) => void,
  exported?: string,
): Promise<ChainVerdict[]> {
  const { name: site } = readSiteSettings(folder, env).platform
  const anchors = await readChainAnchors(folder)
  const exportedHeads = exported === undefined ? [] : await readExportedHeads(exported, site, listEarlierKeys(folder))
  const heads = [...anchors.heads, ...exportedHeads.map((head) => ({ ...head, by: export_source }))]
  const verdicts: ChainVerdict[] = []
  for (const role of listRolesWithDatabase(folder)) {
    verdicts.push(
      await runRoleTask(verifyAuditChain, { folder, env, role }, { heads, faults: [...anchors.faults] }, progress),
    )
  }
  return [...verdicts, ...findLostChains(site, heads, verdicts)]
}

/** Chains of which a head was signed or exported, and which no database holds: it was deleted, or begun anew. */
function findLostChains(site: string, heads: readonly AnchoredHead[], found: readonly ChainVerdict[]): ChainVerdict[] {
  return listLostWriters(site, heads, found).map((writer) => {
    const known = heads.filter((head) => head.writer === writer).toSorted((a, b) => b.seq - a.seq)
    const faults = known
      .slice(0, 1)
      .map(({ by, seq }) => `the chain is gone: no database holds it, and the ${by} is at record ${seq}`)
    return { writer, records: 0, checkpoints: known.filter(({ by }) => by !== export_source).length, faults }
  })
}

/**
 * Writers of the site with a head among these and without a chain. A head at 0 is of a chain without records; chains of
 * other sites are elsewhere.
 */
export function listLostWriters(
  site: string,
  heads: readonly Pick<ChainHead, 'writer' | 'seq'>[],
  found: readonly { readonly writer: string }[],
): string[] {
  const writers = new Set(found.map(({ writer }) => writer))
  const known = heads.filter(({ writer, seq }) => seq > 0 && writer.endsWith(`@${site}`))
  return [...new Set(known.map(({ writer }) => writer))].filter((writer) => !writers.has(writer))
}

/** Emits progress. `heads`: those that the chain must hold. `faults`: those of the checkpoints that role `site` stores. */
export const verifyAuditChain = roleTask({
  name: 'verify-audit-chain',
  input: z.strictObject({
    heads: z.array(z.strictObject({ writer: z.string(), seq: z.int().min(0), hash: z.string(), by: z.string() })),
    faults: z.array(z.string()),
  }),
  event: z.string(),
  output: chainVerdict,
  run: ({ folder, role }, anchors, emit) =>
    withDatabase(folder, role, (database) => verifyRoleChain(database, anchors, (text) => void emit(text))),
})

async function verifyRoleChain(
  { role, audit }: RoleDatabase,
  anchors: ChainAnchors,
  progress: (text: string) => void,
): Promise<ChainVerdict> {
  const { writer, seq } = await audit.head()
  const fault = await audit.verify((checked, total) => progress(`${role.name}: ${checked} of ${total} records`))
  const writerHeads = anchors.heads.filter((head) => head.writer === writer)
  const faults = fault ? [describeChainFault(fault)] : []
  for (const head of writerHeads) {
    const [record] = await audit.list({ limit: 1, after_seq: head.seq + 1 })
    const anchorText = `${head.by} at record ${head.seq}`
    if (seq < head.seq) faults.push(`the chain was cut short: the ${anchorText} is beyond its last record (${seq})`)
    else if (head.seq > 0 && record?.hash !== head.hash)
      faults.push(`the chain was rewritten: the ${anchorText} does not match`)
  }
  return {
    writer: seq === 0 && faults.length === 0 ? role.name : writer,
    records: seq,
    checkpoints: writerHeads.filter(({ by }) => by !== export_source).length,
    faults: [...faults, ...(role.name === 'site' ? anchors.faults : [])],
  }
}

/** `by`: the source of the anchored head, for messages. */
type AnchoredHead = ChainHead & { readonly by: string }
type ChainAnchors = { readonly heads: readonly AnchoredHead[]; readonly faults: readonly string[] }

type StoredCheckpoint = StoredFields & CarriedCheckpoint & { readonly tenant_id: string }

/** Returns checkpoints with a valid signature of the site, and reports the others as faults. */
async function readChainAnchors(folder: SiteFolder): Promise<ChainAnchors> {
  // First, since it names the owner to a user who may not read the data, nor the keys.
  const checkpoints = await readStoredCheckpoints(folder)
  const keys = listEarlierKeys(folder)
  const heads: AnchoredHead[] = []
  const faults: string[] = []
  for (const head of checkpoints) {
    const [, site = ''] = head.writer.split('@')
    const fault = await findCheckpointFault(head, { site, keys, threshold: 1 }, { verify: verifyJws })
    if (fault)
      faults.push(`the checkpoint of ${head.writer} at record ${head.seq} has no valid signature of the site: ${fault}`)
    else heads.push({ writer: head.writer, seq: head.seq, hash: head.hash, by: `checkpoint of ${head.at}` })
  }
  return { heads, faults }
}

/** Also those revoked since: a site's chains must still match what it signed before. */
function listEarlierKeys(folder: SiteFolder): PublicKey[] {
  return listKeys(folder.keys).map((key) => (key.status === 'revoked' ? { ...key, status: 'retired' } : key))
}

/** The signed heads of all chains, as role `site` stored them; a record that is not one has a signature that does not hold. */
export async function readStoredCheckpoints(folder: SiteFolder): Promise<CarriedCheckpoint[]> {
  const site = listRolesWithDatabase(folder).find((role) => role.name === 'site')
  const found: CarriedCheckpoint[] = []
  if (site)
    await runRoleTask(listCheckpoints, { folder, env: {}, role: site }, null, (page) => void found.push(...page))
  return found
}

export const listCheckpoints = roleTask({
  name: 'list-checkpoints',
  input: z.null(),
  event: z.array(carriedCheckpoint).max(page_size),
  output: z.null(),
  async run({ folder, role }, _input, emit) {
    return await withDatabase(folder, role, async ({ role: { collections }, store }) => {
      const checkpoints = collections.find(({ name }) => name === 'checkpoint')
      if (!checkpoints) return null
      let cursor: string | undefined
      do {
        const page = await store.list<StoredCheckpoint>(checkpoints, {
          limit: page_size,
          ...(cursor ? { cursor } : {}),
        })
        await emit(page.docs.map(({ value: { tenant_id: _tenant, ...head } }) => head))
        cursor = page.next_cursor
      } while (cursor)
      return null
    })
  },
})

const export_source = 'export'

function describeChainFault({ seq, fault }: ChainFault): string {
  return `record ${seq} is ${fault === 'reordered' ? 'out of order' : fault}`
}
