// Exports audit chains as JSON lines, and ends with a line in which the site signs the exact range of each chain.
import * as z from 'zod'
import { listKeys } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { joseSignatures, verifyJws } from '../../../adapters/keys/jose/signatures.ts'
import { KeyLockedError } from '../../../adapters/keys/jose/wrapped-key.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import type { ChainHead } from '../../kernel/audit/audit-chain.ts'
import {
  type AuditExportStatement,
  auditExportStatement,
  ExportedChainReader,
} from '../../kernel/audit/audit-export.ts'
import { canonicalJson } from '../../kernel/encoding/canonical-json.ts'
import { isRefusal } from '../../kernel/error/errors.ts'
import type { CarriedCheckpoint } from '../../kernel/messaging/inventory.ts'
import type { RoleOutline } from '../../kernel/role/role.ts'
import { findCheckpointFault } from '../../shared/audit-checkpoint/find-checkpoint-fault.ts'
import { type RoleTaskContext, roleTask } from '../role-task/role-task.ts'
import { runRoleTask } from '../role-task/run-role-task.ts'
import { type EnvironmentVariables, readSiteSettings } from '../site/site-profile.ts'
import { withDatabase } from '../store/role-database.ts'
import { listAuditRecords, listLostWriters, readStoredCheckpoints } from './audit-chains.ts'

export type AuditExportOptions = {
  readonly roles: readonly RoleOutline[]
  /** Whether these are all roles of the site: a chain that is gone is then a fault as well. */
  readonly hasEveryRole: boolean
  readonly since?: string | undefined
  readonly until?: string | undefined
  readonly passphrase: () => string | undefined
  /** Epoch milliseconds. */
  readonly now: number
}

/** `signed`: the last line holds a signature over all records. `problems`: reasons why not, and faults of chains. */
export type AuditExportReport = { readonly signed: boolean; readonly problems: readonly string[] }

/**
 * Writes each chain from its first record of the time span to its last, with those between them, after the newest signed
 * checkpoint in that range; then the signed line. Nothing is signed for a chain with a fault, or one that contradicts a
 * checkpoint.
 */
export async function exportAuditChains(
  folder: SiteFolder,
  env: EnvironmentVariables,
  options: AuditExportOptions,
  write: (line: object) => void,
): Promise<AuditExportReport> {
  const { name: site } = readSiteSettings(folder, env).platform
  const stored = await readStoredCheckpoints(folder)
  const readers: ExportedChainReader[] = []
  const heads: ChainHead[] = []
  for (const role of options.roles) {
    const span = {
      ...(options.since ? { since: options.since } : {}),
      ...(options.until ? { until: options.until } : {}),
    }
    const chain = await runRoleTask(readChainSpan, { folder, env, role }, span)
    heads.push(chain.head)
    const reader = await exportChain({ folder, env, role }, site, chain, stored, write)
    if (reader) readers.push(reader)
  }
  const lostWriters = options.hasEveryRole ? listLostWriters(site, stored, heads) : []
  const problems = [
    ...readers.flatMap(({ writer, fault }) => (fault ? [`${writer}: ${fault}`] : [])),
    ...lostWriters.map((writer) => `${writer}: the chain is gone: no database holds it, and a checkpoint does`),
  ]
  if (problems.length > 0) return { signed: false, problems }
  const { since, until, now } = options
  const statement: AuditExportStatement = {
    ...{ v: 1, type: 'platform.audit-export', site, created: new Date(now).toISOString() },
    ...{ ...(since ? { since } : {}), ...(until ? { until } : {}) },
    chains: readers.flatMap(({ range }) => range ?? []),
  }
  const unsigned = await signExport(folder, statement, options, write)
  return { signed: unsigned === undefined, problems: unsigned === undefined ? [] : [unsigned] }
}

/** Undefined once it is signed; otherwise the reason why the site cannot sign it. */
async function signExport(
  { keys: dir }: SiteFolder,
  statement: AuditExportStatement,
  { now, passphrase }: AuditExportOptions,
  write: (line: object) => void,
): Promise<string | undefined> {
  const payload = Buffer.from(canonicalJson(auditExportStatement.parse(statement)))
  try {
    const signature = await joseSignatures({ dir, now: () => now, passphrase }).sign('audit-export', payload)
    write({ type: 'platform.audit-export', v: 1, signature })
    return undefined
  } catch (error) {
    if (isRefusal(error) || error instanceof KeyLockedError) return error.message
    throw error
  }
}

const chainSpan = z.strictObject({
  head: z.strictObject({ writer: z.string(), seq: z.int().min(0), hash: z.string() }),
  range: z.strictObject({ first: z.int().min(1), last: z.int().min(1) }).optional(),
})

/** The head of the chain, and the numbers of its first and last record in the time span. */
export const readChainSpan = roleTask({
  name: 'read-chain-span',
  input: z.strictObject({ since: z.iso.datetime().optional(), until: z.iso.datetime().optional() }),
  event: z.never(),
  output: chainSpan,
  run: ({ folder, role }, { since, until }) =>
    withDatabase(folder, role, async ({ audit }) => {
      const span = { ...(since ? { since } : {}), ...(until ? { until } : {}) }
      const head = await audit.head()
      const [first] = await audit.list({ ...span, limit: 1, ascending: true, after_seq: 0 })
      const [last] = await audit.list({ ...span, limit: 1 })
      return { head, ...(first && last ? { range: { first: first.seq, last: last.seq } } : {}) }
    }),
})

async function exportChain(
  context: RoleTaskContext,
  site: string,
  { head, range }: z.infer<typeof chainSpan>,
  stored: readonly CarriedCheckpoint[],
  write: (line: object) => void,
): Promise<ExportedChainReader | undefined> {
  const beyond = stored.filter(({ writer, seq }) => writer === head.writer && seq > head.seq)
  const reader = new ExportedChainReader(
    head.writer,
    stored.filter(({ writer }) => writer === head.writer),
  )
  if (beyond.length > 0) reader.refuse(`the chain was cut short: a checkpoint is beyond its last record (${head.seq})`)
  if (!range) return beyond.length > 0 ? reader : undefined
  const checkpoint = await findNewestCheckpoint(context.folder, site, head.writer, stored, range)
  if (checkpoint) write({ type: 'platform.checkpoint', v: 1, ...checkpoint })
  await runRoleTask(listAuditRecords, context, { after_seq: range.first - 1, last: range.last }, (records) => {
    for (const record of records) {
      reader.take(record)
      write(record)
    }
  })
  return reader
}

type SequenceRange = { readonly first: number; readonly last: number }

/** The newest in the range that a key of the site signed which is not revoked since. */
async function findNewestCheckpoint(
  { keys: dir }: SiteFolder,
  site: string,
  writer: string,
  stored: readonly CarriedCheckpoint[],
  { first, last }: SequenceRange,
): Promise<CarriedCheckpoint | undefined> {
  const candidates = stored.filter((head) => head.writer === writer && head.seq >= first && head.seq <= last)
  const keys = listKeys(dir)
  for (const head of candidates.sort((a, b) => b.seq - a.seq)) {
    if (!(await findCheckpointFault(head, { site, keys, threshold: 1 }, { verify: verifyJws }))) return head
  }
  return undefined
}
