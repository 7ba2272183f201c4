// Exports matches, clusters, entities or decisions of the service to a file.
import { resolve } from 'node:path'
import { offline } from '../../../daemon/offline/offline.ts'
import type { ApiObject, ServiceClient } from '../../client/client.ts'
import { type ExportTable, exportTables } from '../../client/export-tables.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { choice, required, text, withDefault } from '../../program/params.ts'
import { formatFields, printResult } from '../../terminal/output.ts'

const exportKinds = ['matches', 'clusters', 'entities', 'decisions'] as const
const formats = ['csv', 'jsonl', 'parquet'] as const

export const definition = command({
  words: 'resolve export',
  summary: 'Export matches, clusters, entities or decisions of the service to a file',
  notes: [
    'matches: each scored pair; clusters: the entity of each record; entities: one row each, merged and deleted ids included;',
    'decisions: pairs that people or consensus decided, as `platform resolve run --decisions` reads them. What you may see is',
    'read page by page, and changes meanwhile may be missing. The file has its name only once it is whole.',
  ].join('\n'),
  positionals: { kind: required(choice('KIND', 'What to export', exportKinds)) },
  options: {
    lens: required(text('LENS', 'Name of the lens')),
    out: required(text('FILE', 'File to create')),
    format: withDefault('csv', choice('FORMAT', 'Format of the file; default: csv', formats)),
    ...serviceOptions,
  },
  example: 'platform resolve export entities --lens persons --format parquet --out entities.parquet',
  async run(params, terminal) {
    const { kind, lens, out, format, json } = params
    const api = await connectService(params, terminal)
    const { writeExportFile } = await offline.exportFile()
    const { columns, ...table } = exportTables[kind]
    let rows = 0
    const pages = readPages(api, lens, table, (count) => {
      rows += count
      terminal.progress(`${rows} rows`)
    })
    await writeExportFile(resolve(out), { kind: format, columns, pages })
    terminal.progress('')
    printResult(terminal, json, { file: out, rows }, () => formatFields(terminal, { file: out, rows }))
    return 0
  },
})

const page_items = 500

async function* readPages(
  api: ServiceClient,
  lens: string,
  { lists, rows }: Pick<ExportTable, 'lists' | 'rows'>,
  onRows: (count: number) => void,
): AsyncGenerator<(readonly string[])[]> {
  for (const { operation, filter } of lists) {
    let cursor: string | undefined
    do {
      const page = (await api.call(operation, { ...filter, lens, limit: page_items, cursor })) as ListPage
      const cells = page.items.flatMap(rows)
      onRows(cells.length)
      yield cells
      cursor = page.next_cursor
    } while (cursor !== undefined)
  }
}

type ListPage = { readonly items: readonly ApiObject[]; readonly next_cursor?: string }
