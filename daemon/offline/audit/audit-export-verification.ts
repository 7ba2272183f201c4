// Verifies an audit export on any machine: its records against the range of each chain that the site signed.
import { verifyJws } from '../../../adapters/keys/jose/signatures.ts'
import { type AuditRecord, auditRecord, type ChainHead } from '../../kernel/audit/audit-chain.ts'
import {
  type AuditExportStatement,
  auditExportLine,
  auditExportStatement,
  checkpointLine,
  type ExportedChain,
  ExportedChainReader,
  findRangeFault,
} from '../../kernel/audit/audit-export.ts'
import { findSignerFault, selectCountingKeys } from '../../kernel/cryptography/counting-signers.ts'
import type { Jws, PublicKey } from '../../kernel/cryptography/signatures.ts'
import { canonicalJson } from '../../kernel/encoding/canonical-json.ts'
import { parseExactJson, parseJson } from '../../kernel/encoding/parse-json.ts'
import type { CarriedCheckpoint } from '../../kernel/messaging/inventory.ts'
import { findCheckpointFault } from '../../shared/audit-checkpoint/find-checkpoint-fault.ts'
import type { SenderKeys } from '../filedrop/filedrop-files.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import type { ChainVerdict } from './audit-chains.ts'
import { export_hint, readExportLines } from './export-lines.ts'

export type ExportVerdict = {
  /** Every record in the file is exactly what the site signed, and nothing is missing from the range that it states. */
  readonly whole: boolean
  /** The signed statement of the export; unverified where `signed_by` is empty. */
  readonly export: Omit<AuditExportStatement, 'v' | 'type' | 'chains'> | undefined
  /** Ids of the given keys that signed it. */
  readonly signed_by: readonly string[]
  /** Faults of the export itself. */
  readonly faults: readonly string[]
  readonly chains: readonly (ChainVerdict & Partial<Pick<ExportedChain, 'first' | 'last'>>)[]
}

type ExportContent = {
  readonly readers: Map<string, ExportedChainReader>
  readonly records: Map<string, number>
  readonly checkpoints: CarriedCheckpoint[]
  signature: Jws | undefined
  /** Lines behind the signed one. */
  hasMore: boolean
  readonly visit: RecordVisitor
}

type RecordVisitor = (record: AuditRecord) => void

/**
 * `findKeys`: the trusted keys of the site that the export names; without any, nothing is proven but that records and
 * statement agree. `visit` is called for each record. Throws `OfflineCommandError`.
 */
export async function verifyAuditExport(
  file: string,
  findKeys: (site: string) => Promise<SenderKeys | undefined>,
  visit?: RecordVisitor,
): Promise<ExportVerdict> {
  const content = await readExport(file, visit)
  const statement = content.signature && readStatement(content.signature)
  const known = statement && (await findKeys(statement.site))
  return await judgeExport(content, known && known.keys.length > 0 ? known : undefined)
}

async function judgeExport(content: ExportContent, keys: SenderKeys | undefined): Promise<ExportVerdict> {
  const statement = content.signature && readStatement(content.signature)
  const { signed_by, fault } = await judgeSignature(content.signature, statement, keys)
  const faults = [
    ...(fault ? [fault] : []),
    ...(content.hasMore ? ['something follows the signed line'] : []),
    ...(content.readers.size === 0 ? ['the export holds no record'] : []),
  ]
  const chains = await judgeChains(content, statement, keys)
  const { v: _v, type: _type, chains: _chains, ...stated } = statement ?? {}
  return {
    whole: faults.length === 0 && chains.every((chain) => chain.faults.length === 0),
    export: statement && (stated as ExportVerdict['export']),
    signed_by,
    faults,
    chains,
  }
}

/**
 * The last record of each writer in an earlier export of this site, for a comparison with it. A role that runs alone has no
 * keys to sign with, so that an export without a signed line counts as it is; a signed one must hold by `keys`. Throws
 * `OfflineCommandError` (5) for the export of another site, and for one that was changed.
 */
export async function readExportedHeads(file: string, site: string, keys: readonly PublicKey[]): Promise<ChainHead[]> {
  const content = await readExport(file)
  const { readers } = content
  if (readers.size === 0) throw new OfflineCommandError(5, 'the earlier export holds no record', export_hint)
  const foreign = [...readers.keys()].find((writer) => !writer.endsWith(`@${site}`))
  if (foreign !== undefined)
    throw new OfflineCommandError(
      5,
      `the earlier export holds the chain ${foreign}, and this is the site ${site}`,
      `compare with an export of ${site}: that of another site proves nothing here`,
    )
  const { faults, chains } = await judgeExport(content, { keys })
  const [fault] = [...(content.signature ? faults : []), ...chains.flatMap((chain) => chain.faults)]
  if (fault !== undefined)
    throw new OfflineCommandError(5, `the earlier export is not as it was made: ${fault}`, export_hint)
  return [...readers.values()].flatMap(({ range }) =>
    range ? [{ writer: range.writer, seq: range.last, hash: range.hash }] : [],
  )
}

async function readExport(file: string, visit: RecordVisitor = () => undefined): Promise<ExportContent> {
  const content: ExportContent = {
    ...{ readers: new Map(), records: new Map(), checkpoints: [] },
    ...{ signature: undefined, hasMore: false, visit },
  }
  for await (const { line, number } of readExportLines(file)) takeLine(content, line, number)
  return content
}

function takeLine(content: ExportContent, line: Buffer, number: number): void {
  const value = parseJson(line)
  const record = auditRecord.safeParse(value).data
  if (content.signature) content.hasMore = true
  if (record) {
    takeRecord(content, record)
    return
  }
  const checkpoint = checkpointLine.safeParse(value).data
  const end = auditExportLine.safeParse(value).data
  if (checkpoint) {
    const { v: _v, type: _type, ...head } = checkpoint
    content.checkpoints.push(head)
  } else if (end) content.signature ??= end.signature
  else throw new OfflineCommandError(5, `line ${number} is not an audit record`, export_hint)
}

function takeRecord({ readers, records, checkpoints, visit }: ExportContent, record: AuditRecord): void {
  const { writer } = record
  let reader = readers.get(writer)
  if (!reader) {
    reader = new ExportedChainReader(
      writer,
      checkpoints.filter((head) => head.writer === writer),
    )
    readers.set(writer, reader)
  }
  reader.take(record)
  visit(record)
  records.set(writer, (records.get(writer) ?? 0) + 1)
}

function readStatement({ payload }: Jws): AuditExportStatement | undefined {
  return auditExportStatement.safeParse(parseExactJson(Buffer.from(payload, 'base64url'), canonicalJson)).data
}

async function judgeSignature(
  signature: Jws | undefined,
  statement: AuditExportStatement | undefined,
  known: SenderKeys | undefined,
): Promise<{ readonly signed_by: readonly string[]; readonly fault?: string }> {
  const none = { signed_by: [] }
  if (!signature) return { ...none, fault: 'the export has no signed line: nothing shows that it is complete' }
  if (!statement) return { ...none, fault: 'what the site signed is not the statement of an export' }
  if (!known)
    return {
      ...none,
      fault: `the signature was not verified: no keys of ${statement.site} are known; name them with --keys`,
    }
  const { keys, threshold = 1, key_set } = known
  if (key_set && key_set.site !== statement.site)
    return { ...none, fault: `the export is of ${statement.site}, and the keys are of ${key_set.site}` }
  const verified = await verifyJws('audit-export', signature, keys)
  const found = findSignerFault(verified, threshold, statement.created)
  if (found || typeof verified === 'string') return { ...none, fault: `the signature does not hold: ${found}` }
  return { signed_by: selectCountingKeys(verified.keys, statement.created).map(({ kid }) => kid) }
}

async function judgeChains(
  content: ExportContent,
  statement: AuditExportStatement | undefined,
  known: SenderKeys | undefined,
): Promise<ExportVerdict['chains']> {
  const signed = new Map((statement?.chains ?? []).map((chain) => [chain.writer, chain]))
  const writers = [
    ...new Set([...signed.keys(), ...content.readers.keys(), ...content.checkpoints.map(({ writer }) => writer)]),
  ]
  return await Promise.all(
    writers.map(async (writer) => {
      const reader = content.readers.get(writer)
      const range = reader?.range
      const chain = signed.get(writer)
      const checkpoints = content.checkpoints.filter((head) => head.writer === writer)
      const faults = [
        reader?.fault,
        statement && !chain ? 'the site did not sign this chain' : undefined,
        chain && !reader?.fault ? findRangeFault(range, chain) : undefined,
        statement && !writer.endsWith(`@${statement.site}`) ? 'the chain is of another site' : undefined,
        ...(statement ? await findCheckpointFaults(checkpoints, statement.site, known) : []),
      ]
      return {
        ...{ writer, records: content.records.get(writer) ?? 0, checkpoints: checkpoints.length },
        ...(range ? { first: range.first, last: range.last } : {}),
        faults: faults.filter((fault) => fault !== undefined),
      }
    }),
  )
}

async function findCheckpointFaults(
  checkpoints: readonly CarriedCheckpoint[],
  site: string,
  known: SenderKeys | undefined,
): Promise<string[]> {
  if (!known) return []
  const { keys, threshold = 1 } = known
  const faults: string[] = []
  for (const head of checkpoints) {
    const fault = await findCheckpointFault(head, { site, keys, threshold }, { verify: verifyJws })
    if (fault) faults.push(`the checkpoint at record ${head.seq} is not signed by the site: ${fault}`)
  }
  return faults
}
