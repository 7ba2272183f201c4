// Audit chains from the roles' own database files: listed, and verified against the checkpoints that the site signed.

import { listKeys } from '../../../adapters/keys/jose/key-life.ts'
import { verifyJws } from '../../../adapters/keys/jose/signatures.ts'
import {
  type AuditQuery,
  type AuditRecord,
  auditRecord,
  type ChainFault,
  genesis,
  verifyChain,
} from '../../kernel/audit.ts'
import { canonical } from '../../kernel/canonical.ts'
import { jws, type PublicKey } from '../../kernel/keys.ts'
import type { Role } from '../../kernel/role.ts'
import type { Stored } from '../../kernel/store.ts'
import type { SiteFolder } from '../site-folder.ts'
import { Objection } from './objection.ts'
import { type RoleDatabase, rolesWithDatabase, withDatabase } from './role-database.ts'

const chunk = 500

/** Roles whose chain lies here. */
export function rolesWithAudit(folder: SiteFolder): Role[] {
  return rolesWithDatabase(folder)
}

/** Oldest first, in pieces, so that a long chain needs little memory. */
export async function eachRecord(
  folder: SiteFolder,
  role: Role,
  query: Omit<AuditQuery, 'limit' | 'after_seq' | 'ascending'>,
  see: (record: AuditRecord) => void,
): Promise<void> {
  await withDatabase(folder, role, async ({ audit }) => {
    let after_seq = 0
    for (;;) {
      const records = await audit.list({ ...query, limit: chunk, ascending: true, after_seq })
      for (const record of records) see(record)
      const last = records.at(-1)
      if (!last || records.length < chunk) return
      after_seq = last.seq
    }
  })
}

export type ChainVerdict = {
  readonly writer: string
  readonly records: number
  /** Anchored heads of this chain that were held against it. */
  readonly checkpoints: number
  readonly faults: readonly string[]
}

/**
 * Walks every chain of the site; `progress` hears of each piece. `exported`: text of an earlier export that was kept elsewhere,
 * whose last record of each chain must still be there. Throws `Objection` (5) where that is no export.
 */
export async function verifyChains(
  folder: SiteFolder,
  progress: (text: string) => void,
  exported = '',
): Promise<ChainVerdict[]> {
  const anchors = await anchorsOf(folder)
  const heads = [...anchors.heads, ...exportedHeads(exported)]
  const verdicts: ChainVerdict[] = []
  for (const role of rolesWithDatabase(folder)) {
    verdicts.push(await withDatabase(folder, role, (database) => verdictOf(database, { ...anchors, heads }, progress)))
  }
  return verdicts
}

async function verdictOf(
  { role, audit }: RoleDatabase,
  anchors: Anchors,
  progress: (text: string) => void,
): Promise<ChainVerdict> {
  const { writer, seq } = await audit.head()
  const fault = await audit.verify((seen, of) => progress(`${role.name}: ${seen} of ${of} records`))
  const own = anchors.heads.filter((head) => head.writer === writer)
  const faults = fault ? [sentenceOf(fault)] : []
  for (const head of own) {
    const [record] = await audit.list({ limit: 1, after_seq: head.seq + 1 })
    const anchored = `${head.by} at record ${head.seq}`
    if (seq < head.seq) faults.push(`the chain was cut short: the ${anchored} lies beyond its end (${seq})`)
    else if (head.seq > 0 && record?.hash !== head.hash)
      faults.push(`the chain was rewritten: the ${anchored} does not fit`)
  }
  return {
    writer: seq === 0 ? role.name : writer,
    records: seq,
    checkpoints: own.filter(({ by }) => by !== ofExport).length,
    faults: [...faults, ...(role.name === 'site' ? anchors.faults : [])],
  }
}

/** `by`: what says so, for people. */
type Head = { readonly writer: string; readonly seq: number; readonly hash: string; readonly by: string }
type Anchors = { readonly heads: readonly Head[]; readonly faults: readonly string[] }

type StoredHead = Stored & Omit<Head, 'by'> & { readonly at: string; readonly signature: unknown }

/** Checkpoints with a valid signature of the site; the others are faults of their own. */
async function anchorsOf(folder: SiteFolder): Promise<Anchors> {
  const site = rolesWithDatabase(folder).find((role) => role.name === 'site')
  const kept = site?.collections.find((each) => each.name === 'checkpoint')
  if (!site || !kept) return { heads: [], faults: [] }
  const keys = listKeys(folder.keys)
  const heads: Head[] = []
  const faults: string[] = []
  await withDatabase(folder, site, async ({ store }) => {
    let cursor: string | undefined
    do {
      const page = await store.list<StoredHead>(kept, { limit: chunk, ...(cursor ? { cursor } : {}) })
      for (const { value } of page.docs) {
        if (await isSigned(value, keys)) heads.push({ ...value, by: `checkpoint of ${value.at}` })
        else
          faults.push(`the checkpoint of ${value.writer} at record ${value.seq} carries no valid signature of the site`)
      }
      cursor = page.next_cursor
    } while (cursor)
  })
  return { heads, faults }
}

async function isSigned(
  { writer, seq, hash, at, signature }: StoredHead,
  keys: readonly PublicKey[],
): Promise<boolean> {
  const envelope = jws.safeParse(signature)
  if (!envelope.success) return false
  // By a key that was revoked since, too: the site's own chain must still fit what it anchored before.
  const own = keys.map((key): PublicKey => (key.status === 'revoked' ? { ...key, status: 'retired' } : key))
  const verified = await verifyJws('checkpoint', envelope.data, own)
  if (typeof verified === 'string') return false
  return Buffer.from(verified.payload).toString('utf8') === canonical({ writer, seq, hash, at })
}

const ofExport = 'export'

/** The last record of each writer: a filtered export has one as well. */
function exportedHeads(text: string): Head[] {
  const last = new Map<string, AuditRecord>()
  for (const record of recordsOf(text)) {
    if (record.seq > (last.get(record.writer)?.seq ?? 0)) last.set(record.writer, record)
  }
  return [...last.values()].map(({ writer, seq, hash }) => ({ writer, seq, hash, by: ofExport }))
}

function recordsOf(text: string): AuditRecord[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return lines.map((line, at) => recordOf(line, at + 1))
}

/** Verifies exported records, one writer after the other, each oldest first. Throws `Objection` (5) for other text. */
export function verifyExport(text: string): ChainVerdict[] {
  const records = recordsOf(text)
  const writers = [...new Set(records.map((record) => record.writer))]
  return writers.map((writer) => {
    const own = records.filter((record) => record.writer === writer)
    const first = own[0]
    const from = { seq: (first?.seq ?? 1) - 1, hash: first?.seq === 1 ? genesis : (first?.prev ?? genesis) }
    const fault = verifyChain(own, from)
    return { writer, records: own.length, checkpoints: 0, faults: fault ? [sentenceOf(fault)] : [] }
  })
}

function recordOf(line: string, number: number): AuditRecord {
  try {
    return auditRecord.parse(JSON.parse(line))
  } catch {
    throw new Objection(5, `line ${number} is no audit record`, '`platform audit export` makes the file')
  }
}

function sentenceOf({ seq, fault }: ChainFault): string {
  return `record ${seq} is ${fault === 'reordered' ? 'out of order' : fault}`
}
