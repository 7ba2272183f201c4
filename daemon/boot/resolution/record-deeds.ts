// The deeds of an exchange that see records: by the engine, which a thread loads for them alone.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { isRefused, refuse } from '../../kernel/errors.ts'
import { idLimit, isWantedBy, LensFault, type Source } from '../../roles/resolution/engine/records/records.ts'
import { rowsIn } from '../../roles/resolution/exchange/cutting.ts'
import type { Deeds, Learnt } from '../../roles/resolution/exchange/deeds.ts'
import { keysOf, vectorsOf } from '../../roles/resolution/exchange/encoding.ts'
import { learntOf } from '../../roles/resolution/exchange/learnt.ts'
import { ownRows } from '../../roles/resolution/exchange/own-rows.ts'
import { recordOf } from '../../roles/resolution/exchange/rows.ts'
import type { NodeRecord } from '../../roles/resolution/fusion-run/node-data.ts'
import { openDataFile } from './data-folder.ts'
import { syncFolder, writeDurably } from './durable-file.ts'
import type { Doers, Done, Where } from './exchange-deeds.ts'
import { writeFound } from './found-files.ts'
import { csvOf } from './node-csv.ts'
import { faultIn, kindOf, readable, readRecords } from './read-records.ts'
import { runFiles } from './run-folder.ts'

async function own({ tenant_id, data, lens, terms }: Deeds['own'][0], { data_folder }: Where): Promise<Done<'own'>> {
  if (Array.isArray(data)) return ownRows(lens, terms, data)
  const kind = kindOf(data.file)
  if (!kind) return refuse('invalid', `a data file must be one of ${readable.join(', ')}`)
  try {
    const opened = openDataFile(data_folder, tenant_id, data.file)
    try {
      const limits = { rows: terms.max_set_size, id: idLimit(lens) }
      const reading = { kind, isWanted: isWantedBy(lens), ...limits, tell: () => undefined }
      return ownRows(lens, terms, recordsIn(await readRecords(opened, reading)))
    } finally {
      opened.close()
    }
  } catch (error) {
    const text = error instanceof LensFault ? `: ${error.message}` : faultIn(error)?.text
    if (text === undefined) throw error
    return refuse('invalid', `the data file${text}`)
  }
}

function recordsIn({ rows, columns }: Omit<Source, 'name'>): NodeRecord[] {
  const decoder = new TextDecoder()
  const texts = columns.map(({ values }) =>
    Array.from({ length: values.size }, (_, at) => decoder.decode(values.bytesOf(at))),
  )
  return Array.from({ length: rows }, (_, row) =>
    Object.fromEntries(columns.map(({ name, codes }, at) => [name, texts[at]?.[codes[row] ?? -1] ?? null])),
  )
}

function learn(given: Deeds['learn'][0], { folder }: Where): Done<'learn'> {
  const found = learntOf(given)
  if (isRefused(found)) return found
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const matches = writeFound(runFiles.matches(folder), found.matches)
  const clusters = writeFound(runFiles.clusters(folder), found.clusters)
  const clustered = found.clusters.reduce((sum, members) => sum + members.length, 0)
  return { matches, clusters, clustered } satisfies Learnt
}

/** Lines that are written at once. */
const at_once = 10_000

/** What a peer has sent is looked at once more, now that all of it is here. */
function hand({ lens, fields, sets }: Deeds['hand'][0], { folder }: Where): Done<'hand'> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const [place, { site, size, pieces }] of sets.entries()) {
    const rows = rowsIn(pieces)
    if (rows.length !== size) return refuse('invalid', `${site} sent ${rows.length} records, and told of ${size}`)
    const isLong = rows.some(([id = '']) => Buffer.byteLength(id) > idLimit(lens).bytes)
    if (isLong) return refuse('invalid', `${site} sent an id of more than ${idLimit(lens).bytes} bytes`)
    if (new Set(rows.map(([id]) => id)).size < rows.length) return refuse('invalid', `${site} sent a record twice`)
    const lines = [...csvOf(rows.map((row) => recordOf(lens, fields, row)))]
    writeDurably(runFiles.inline(folder, place), (opened) => {
      for (let at = 0; at < lines.length; at += at_once) writeFileSync(opened, lines.slice(at, at + at_once).join(''))
    })
  }
  syncFolder(dirname(folder))
  return 'kept'
}

export const recordDeeds: Pick<Doers, 'own' | 'keys' | 'vectors' | 'learn' | 'hand'> = {
  own,
  keys: keysOf,
  vectors: vectorsOf,
  learn,
  hand,
}
