// Exports matches, clusters, entities or decisions of the service, or of a registry file, to a file.
import { resolve } from 'node:path'
import { offline } from '../../../daemon/offline/offline.ts'
import type { ApiObject, ServiceClient } from '../../client/client.ts'
import { type ExportTable, exportTables } from '../../client/export-tables.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { choice, required, text, withDefault } from '../../program/params.ts'
import { formatFields, printResult } from '../../terminal/output.ts'

const exportKinds = ['matches', 'clusters', 'entities', 'decisions'] as const
const formats = ['csv', 'jsonl', 'parquet'] as const

export const definition = command({
  words: 'resolve export',
  summary: 'Export matches, clusters, entities or decisions of the service, or of a registry file',
  notes: [
    'matches: each scored pair; clusters: the entity of each record; entities: one row each, merged and deleted ids included;',
    'decisions: pairs that people or consensus decided, as `platform resolve run --decisions` reads them. What you may see is',
    'read page by page, and changes meanwhile may be missing. The file has its name only once it is whole. --registry',
    'exports a registry of `platform resolve run` in the same columns, without a service: what it does not keep is empty,',
    'such as times, and it keeps no scored pairs (matches); those are in the file pairs of the run.',
  ].join('\n'),
  positionals: { kind: required(choice('KIND', 'What to export', exportKinds)) },
  options: {
    lens: required(text('LENS', 'Name of the lens; with --registry a lens file, or a shipped lens')),
    registry: text('FILE', 'Registry file to export; default: the registry of the service'),
    out: required(text('FILE', 'File to create')),
    format: withDefault('csv', choice('FORMAT', 'Format of the file; default: csv', formats)),
    ...serviceOptions,
  },
  example: 'platform resolve export entities --lens persons --format parquet --out entities.parquet',
  async run(params, terminal) {
    const { kind, lens, registry, out, format, json } = params
    const { writeExportFile } = await offline.exportFile()
    const { columns, ...table } = exportTables[kind]
    let rows = 0
    const onRows = (count: number) => {
      rows += count
      terminal.progress(`${rows} rows`)
    }
    const pages =
      registry === undefined
        ? readPages(await connectService(params, terminal), lens, table, onRows)
        : readRegistryPages(await listRegistryItems(registry, lens, kind), table, onRows)
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

async function listRegistryItems(file: string, lens: string, kind: (typeof exportKinds)[number]) {
  if (kind === 'matches')
    throw new CommandFailure(
      2,
      'a registry file keeps no scored pairs, so it has no matches to export',
      'take the file pairs of the run, or export clusters, entities or decisions',
    )
  const [{ readLens }, { listRegistryExport }] = await Promise.all([offline.lenses(), offline.registryExport()])
  return listRegistryExport(file, readLens(lens), kind)
}

async function* readRegistryPages(
  items: Iterable<object>,
  { rows }: Pick<ExportTable, 'rows'>,
  onRows: (count: number) => void,
): AsyncGenerator<(readonly string[])[]> {
  let page: (readonly string[])[] = []
  for (const item of items) {
    page.push(...rows(item as ApiObject))
    if (page.length < page_items) continue
    onRows(page.length)
    yield page
    page = []
  }
  onRows(page.length)
  yield page
}

type ListPage = { readonly items: readonly ApiObject[]; readonly next_cursor?: string }
