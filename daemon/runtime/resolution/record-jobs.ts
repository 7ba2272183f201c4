// The jobs of an exchange that read records; a thread loads the engine for these jobs alone.

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { inferDataKind, readableExtensions } from '../../../adapters/platform/data-file/data-kinds.ts'
import { describeDataFault } from '../../../adapters/platform/data-file/describe-data-fault.ts'
import { openTenantDataFile } from '../../../adapters/platform/data-file/tenant-data-file.ts'
import { syncFolder } from '../../../adapters/platform/durable-file/sync-folder.ts'
import { isRefusal, refuse } from '../../kernel/error/errors.ts'
import { leaveOutRecords } from '../../roles/resolution/engine/records/leave-out-records.ts'
import {
  createColumnFilter,
  getIdLimit,
  LensFault,
  type RecordSource,
} from '../../roles/resolution/engine/records/records.ts'
import { deriveFindings } from '../../roles/resolution/exchange/job/derive-findings.ts'
import { encodeVectors, extractRecordKeys } from '../../roles/resolution/exchange/job/encode-records.ts'
import type { ExchangeFindingCounts, ExchangeJobs } from '../../roles/resolution/exchange/job/exchange-jobs.ts'
import { buildRunRecord } from '../../roles/resolution/exchange/job/exchange-rows.ts'
import { prepareOwnRows } from '../../roles/resolution/exchange/job/prepare-own-rows.ts'
import { parseRows } from '../../roles/resolution/exchange/piece/cut-pieces.ts'
import type { NodeRecord } from '../../roles/resolution/fusion-run/node-data.ts'
import type { ExchangeJobFolders, ExchangeJobHandlers, ExchangeJobOutcome } from './exchange/exchange-jobs.ts'
import { writeJsonLinesFile } from './files/json-lines-file.ts'
import { formatNodeCsv } from './files/node-csv.ts'
import { readRecords } from './files/read-records.ts'
import { runFiles } from './files/run-folder.ts'
import { writeRunFile } from './files/write-run-file.ts'

async function readOwnRecords(
  { tenant_id, data, lens, terms, withdrawn }: ExchangeJobs['read_own'][0],
  { data_folder }: ExchangeJobFolders,
): Promise<ExchangeJobOutcome<'read_own'>> {
  const ids = new Set(withdrawn)
  if (Array.isArray(data)) {
    const records = data.filter((record) => !ids.has(String(record[lens.id_field] ?? '')))
    return prepareOwnRows(lens, terms, records)
  }
  const kind = inferDataKind(data.file)
  if (!kind) return refuse('invalid', `a data file must be one of ${readableExtensions.join(', ')}`)
  try {
    const file = openTenantDataFile(data_folder, tenant_id, data.file)
    try {
      const limits = { rows: terms.max_set_size, id: getIdLimit(lens) }
      const options = { kind, isWanted: createColumnFilter(lens), ...limits, onProgress: () => undefined }
      const read = { name: data.file, ...(await readRecords(file, options)) }
      const { source } = leaveOutRecords(read, lens.id_field, ids)
      return prepareOwnRows(lens, terms, toNodeRecords(source))
    } finally {
      file.close()
    }
  } catch (error) {
    const text = error instanceof LensFault ? `: ${error.message}` : describeDataFault(error)?.text
    if (text === undefined) throw error
    return refuse('invalid', `the data file${text}`)
  }
}

function toNodeRecords({ rows, columns }: Omit<RecordSource, 'name'>): NodeRecord[] {
  const decoder = new TextDecoder()
  const texts = columns.map(({ values }) =>
    Array.from({ length: values.size }, (_, index) => decoder.decode(values.bytesOf(index))),
  )
  return Array.from({ length: rows }, (_, row) =>
    Object.fromEntries(columns.map(({ name, codes }, index) => [name, texts[index]?.[codes[row] ?? -1] ?? null])),
  )
}

function storeResult(
  input: ExchangeJobs['derive_findings'][0],
  { folder }: ExchangeJobFolders,
): ExchangeJobOutcome<'derive_findings'> {
  const findings = deriveFindings(input)
  if (isRefusal(findings)) return findings
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const matches = writeJsonLinesFile(runFiles.matches(folder), findings.matches)
  const clusters = writeJsonLinesFile(runFiles.clusters(folder), findings.clusters)
  const clustered = findings.clusters.reduce((sum, members) => sum + members.length, 0)
  return { matches, clusters, clustered } satisfies ExchangeFindingCounts
}

/** Lines of one write. */
const lines_per_write = 10_000

/** Checks the complete set of the peer once more, and writes the input of a run. */
function storePeerRecords(
  { lens, fields, sets }: ExchangeJobs['write_run_input'][0],
  { folder }: ExchangeJobFolders,
): ExchangeJobOutcome<'write_run_input'> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const [index, { site, size, pieces }] of sets.entries()) {
    const rows = parseRows(pieces)
    if (rows.length !== size) return refuse('invalid', `${site} sent ${rows.length} records, and announced ${size}`)
    const isLong = rows.some(([id = '']) => Buffer.byteLength(id) > getIdLimit(lens).bytes)
    if (isLong) return refuse('invalid', `${site} sent an id of more than ${getIdLimit(lens).bytes} bytes`)
    if (new Set(rows.map(([id]) => id)).size < rows.length) return refuse('invalid', `${site} sent a record twice`)
    const lines = [...formatNodeCsv(rows.map((row) => buildRunRecord(lens, fields, row)))]
    writeRunFile(runFiles.inline(folder, index), (descriptor) => {
      for (let start = 0; start < lines.length; start += lines_per_write)
        writeFileSync(descriptor, lines.slice(start, start + lines_per_write).join(''))
    })
  }
  syncFolder(dirname(folder))
  return 'kept'
}

export const recordJobs: Pick<
  ExchangeJobHandlers,
  'read_own' | 'keys' | 'vectors' | 'derive_findings' | 'write_run_input'
> = {
  read_own: readOwnRecords,
  keys: extractRecordKeys,
  vectors: encodeVectors,
  derive_findings: storeResult,
  write_run_input: storePeerRecords,
}
