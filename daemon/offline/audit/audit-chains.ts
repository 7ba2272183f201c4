// Lists the audit chains of the roles' database files, and verifies them against the site's signed checkpoints.

import { listKeys } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { verifyJws } from '../../../adapters/keys/jose/signatures.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import {
  type AuditQuery,
  type AuditRecord,
  auditRecord,
  type ChainFault,
  genesis_hash,
  verifyChain,
} from '../../kernel/audit/audit-chain.ts'
import { jws, type PublicKey } from '../../kernel/cryptography/signatures.ts'
import { canonicalJson } from '../../kernel/encoding/canonical-json.ts'
import { parseJsonAs } from '../../kernel/encoding/parse-json.ts'
import type { Role } from '../../kernel/role/role.ts'
import type { StoredFields } from '../../kernel/store/store.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { listRolesWithDatabase, type RoleDatabase, withDatabase } from '../store/role-database.ts'

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
 * Verifies every chain of the site; `progress` is called for each batch. `exported`: text of an earlier export, kept
 * elsewhere, whose last record of each chain must still be present. Throws `OfflineCommandError` (5) if that text is
 * not an export.
 */
export async function verifyAuditChains(
  folder: SiteFolder,
  progress: (text: string) => void,
  exported = '',
): Promise<ChainVerdict[]> {
  const anchors = await readChainAnchors(folder)
  const heads = [...anchors.heads, ...parseExportedHeads(exported)]
  const verdicts: ChainVerdict[] = []
  for (const role of listRolesWithDatabase(folder)) {
    verdicts.push(
      await withDatabase(folder, role, (database) => verifyRoleChain(database, { ...anchors, heads }, progress)),
    )
  }
  return verdicts
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
    writer: seq === 0 ? role.name : writer,
    records: seq,
    checkpoints: writerHeads.filter(({ by }) => by !== export_source).length,
    faults: [...faults, ...(role.name === 'site' ? anchors.faults : [])],
  }
}

/** `by`: the source of the anchored head, for messages. */
type AnchoredHead = { readonly writer: string; readonly seq: number; readonly hash: string; readonly by: string }
type ChainAnchors = { readonly heads: readonly AnchoredHead[]; readonly faults: readonly string[] }

type StoredCheckpointHead = StoredFields &
  Omit<AnchoredHead, 'by'> & { readonly at: string; readonly signature: unknown }

/** Returns checkpoints with a valid signature of the site, and reports the others as faults. */
async function readChainAnchors(folder: SiteFolder): Promise<ChainAnchors> {
  const site = listRolesWithDatabase(folder).find((role) => role.name === 'site')
  const checkpoints = site?.collections.find((collection) => collection.name === 'checkpoint')
  if (!site || !checkpoints) return { heads: [], faults: [] }
  const keys = listKeys(folder.keys)
  const heads: AnchoredHead[] = []
  const faults: string[] = []
  await withDatabase(folder, site, async ({ store }) => {
    let cursor: string | undefined
    do {
      const page = await store.list<StoredCheckpointHead>(checkpoints, {
        limit: page_size,
        ...(cursor ? { cursor } : {}),
      })
      for (const { value } of page.docs) {
        if (await isSignedBySite(value, keys)) heads.push({ ...value, by: `checkpoint of ${value.at}` })
        else faults.push(`the checkpoint of ${value.writer} at record ${value.seq} has no valid signature of the site`)
      }
      cursor = page.next_cursor
    } while (cursor)
  })
  return { heads, faults }
}

async function isSignedBySite(
  { writer, seq, hash, at: index, signature }: StoredCheckpointHead,
  keys: readonly PublicKey[],
): Promise<boolean> {
  const envelope = jws.safeParse(signature)
  if (!envelope.success) return false
  // Accepts keys that were revoked since: the site's own chain must still match its earlier checkpoints.
  const writerHeads = keys.map((key): PublicKey => (key.status === 'revoked' ? { ...key, status: 'retired' } : key))
  const verified = await verifyJws('checkpoint', envelope.data, writerHeads)
  if (typeof verified === 'string') return false
  return Buffer.from(verified.payload).toString('utf8') === canonicalJson({ writer, seq, hash, at: index })
}

const export_source = 'export'

/** Returns the last record of each writer, which a filtered export has too. */
function parseExportedHeads(text: string): AnchoredHead[] {
  const latest = new Map<string, AuditRecord>()
  for (const record of parseAuditRecords(text)) {
    if (record.seq > (latest.get(record.writer)?.seq ?? 0)) latest.set(record.writer, record)
  }
  return [...latest.values()].map(({ writer, seq, hash }) => ({ writer, seq, hash, by: export_source }))
}

function parseAuditRecords(text: string): AuditRecord[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return lines.map((line, index) => parseAuditRecord(line, index + 1))
}

/**
 * Verifies exported records, one writer after the other, each oldest first. Throws `OfflineCommandError` (5) for other
 * text.
 */
export function verifyAuditExport(text: string): ChainVerdict[] {
  const records = parseAuditRecords(text)
  const writers = [...new Set(records.map((record) => record.writer))]
  return writers.map((writer) => {
    const writerHeads = records.filter((record) => record.writer === writer)
    const first = writerHeads[0]
    const start = { seq: (first?.seq ?? 1) - 1, hash: first?.seq === 1 ? genesis_hash : (first?.prev ?? genesis_hash) }
    const fault = verifyChain(writerHeads, start)
    return { writer, records: writerHeads.length, checkpoints: 0, faults: fault ? [describeChainFault(fault)] : [] }
  })
}

function parseAuditRecord(line: string, number: number): AuditRecord {
  const record = parseJsonAs(auditRecord, line)
  if (record) return record
  throw new OfflineCommandError(5, `line ${number} is not an audit record`, '`platform audit export` writes the file')
}

function describeChainFault({ seq, fault }: ChainFault): string {
  return `record ${seq} is ${fault === 'reordered' ? 'out of order' : fault}`
}
