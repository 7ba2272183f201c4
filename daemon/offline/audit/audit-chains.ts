// Lists the audit chains of the roles' database files, and verifies them against the site's signed checkpoints.

import { listKeys } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { verifyJws } from '../../../adapters/keys/jose/signatures.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import type { AuditQuery, AuditRecord, ChainFault, ChainHead } from '../../kernel/audit/audit-chain.ts'
import type { PublicKey } from '../../kernel/cryptography/signatures.ts'
import type { CarriedCheckpoint } from '../../kernel/messaging/inventory.ts'
import type { Role } from '../../kernel/role/role.ts'
import type { StoredFields } from '../../kernel/store/store.ts'
import { findCheckpointFault } from '../../shared/audit-checkpoint/find-checkpoint-fault.ts'
import { type EnvironmentVariables, readSiteSettings } from '../site/site-profile.ts'
import { listRolesWithDatabase, type RoleDatabase, withDatabase } from '../store/role-database.ts'
import { readExportedHeads } from './audit-export-verification.ts'

const page_size = 500

/** Roles with a chain at this site. */
export function listAuditedRoles(folder: SiteFolder): Role[] {
  return listRolesWithDatabase(folder)
}

/** Reads a chain oldest first, in batches, so that a long chain needs little memory. */
export async function forEachAuditRecord(
  folder: SiteFolder,
  role: Role,
  query: Omit<AuditQuery, 'limit' | 'after_seq' | 'ascending'>,
  visit: (record: AuditRecord) => void,
): Promise<void> {
  await withDatabase(folder, role, async ({ audit }) => {
    let after_seq = 0
    for (;;) {
      const records = await audit.list({ ...query, limit: page_size, ascending: true, after_seq })
      for (const record of records) visit(record)
      const latest = records.at(-1)
      if (!latest || records.length < page_size) return
      after_seq = latest.seq
    }
  })
}

export type ChainVerdict = {
  readonly writer: string
  readonly records: number
  /** Number of checkpoints that the chain was compared with. */
  readonly checkpoints: number
  readonly faults: readonly string[]
}

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
      await withDatabase(folder, role, (database) => verifyRoleChain(database, { ...anchors, heads }, progress)),
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
    else heads.push({ ...head, by: `checkpoint of ${head.at}` })
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
  const checkpoints = site?.collections.find((collection) => collection.name === 'checkpoint')
  if (!site || !checkpoints) return []
  const found: CarriedCheckpoint[] = []
  await withDatabase(folder, site, async ({ store }) => {
    let cursor: string | undefined
    do {
      const page = await store.list<StoredCheckpoint>(checkpoints, {
        limit: page_size,
        ...(cursor ? { cursor } : {}),
      })
      for (const { value } of page.docs) {
        const { tenant_id: _tenant, ...head } = value
        found.push(head)
      }
      cursor = page.next_cursor
    } while (cursor)
  })
  return found
}

const export_source = 'export'

function describeChainFault({ seq, fault }: ChainFault): string {
  return `record ${seq} is ${fault === 'reordered' ? 'out of order' : fault}`
}
