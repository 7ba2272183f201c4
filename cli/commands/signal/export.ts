// Exports signals for other systems, as one STIX 2.1 bundle.
import { nameUuid } from '../../../daemon/kernel/encoding/name-uuid.ts'
import type { ServiceClient } from '../../client/client.ts'
import { writeOutputFile } from '../../file/output-file.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { buildSignalFilter, filterOptions } from '../../options/signal-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { flag, integer, text, withDefault } from '../../program/params.ts'
import { escapeControls, formatFields, type OutputRow, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'signal export',
  summary: 'export signals as a STIX 2.1 bundle of sightings',
  notes: [
    'Each signal that you may see and that was asked for is a sighting of its subject, marked with its label; what STIX has',
    'no property for is in an extension that the bundle defines. With --releasable-to only what may go there goes out.',
  ].join('\n'),
  options: {
    stix: flag('the format; there is no other yet'),
    ...filterOptions,
    releasableTo: text('NAME', 'only those whose label lets this tenant or nation see them'),
    out: text('FILE', 'a new file for the bundle'),
    limit: withDefault(10_000, integer('COUNT', 'at most so many', 1, 1_000_000)),
    ...serviceOptions,
  },
  example: 'platform signal export --stix --since 2026-03-01 --releasable-to FRA --out sightings.json',
  async run(given, terminal) {
    if (!given.stix) throw new CommandFailure(2, 'say in which format', 'add --stix')
    const api = await connectService(given, terminal)
    const { releasableTo: releasable_to, out } = given
    const filters = { ...buildSignalFilter(given), releasable_to }
    const { bundle, left_out, hasMore } = await exportSignals(api, filters, given.limit)
    const text = escapeControls(JSON.stringify(bundle))
    if (out === undefined) terminal.print(text)
    else {
      writeOutputFile(out, `${text}\n`)
      const told = { file: out, sightings: countSightings(bundle.objects ?? []), not_releasable: left_out }
      printResult(terminal, given.json, told, () => formatFields(terminal, told))
    }
    if (hasMore)
      terminal.note(`there are more than ${given.limit} such signals: say --limit, or --until for earlier ones`)
    if (out === undefined && left_out > 0) terminal.note(`${left_out} signals are not releasable to ${releasable_to}`)
    return 0
  },
})

type ExportedStixBundle = { readonly type: 'bundle'; readonly id: string; readonly objects?: readonly OutputRow[] }
type SignalExportPage = {
  readonly bundle: ExportedStixBundle
  readonly left_out: number
  readonly next_cursor?: string
}

const countSightings = (objects: readonly OutputRow[]) => objects.filter(({ type }) => type === 'sighting').length

/** Page by page, each object once; of several pages the id follows from theirs. */
async function exportSignals(api: ServiceClient, filters: OutputRow, limit: number) {
  const pages: SignalExportPage[] = []
  const objects = new Map<unknown, OutputRow>()
  let asked = 0
  let cursor: string | undefined
  do {
    const size = Math.min(500, limit - asked)
    const page = (await api.call('intelligence.signal.export', {
      ...{ ...filters, limit: size },
      ...(cursor === undefined ? {} : { cursor }),
    })) as SignalExportPage
    for (const object of page.bundle.objects ?? []) objects.set(object.id, object)
    pages.push(page)
    asked += size
    cursor = page.next_cursor
  } while (cursor !== undefined && asked < limit)
  const bundle: ExportedStixBundle = {
    ...mergeBundles(pages),
    ...(objects.size > 0 ? { objects: [...objects.values()] } : {}),
  }
  const left_out = pages.reduce((sum, page) => sum + page.left_out, 0)
  return { bundle, left_out, hasMore: cursor !== undefined }
}

function mergeBundles(pages: readonly SignalExportPage[]): ExportedStixBundle {
  const [first = '', ...rest] = pages.map(({ bundle }) => bundle.id)
  const id = rest.length === 0 ? first : `bundle--${nameUuid(first.slice('bundle--'.length), JSON.stringify(rest))}`
  return { type: 'bundle', id }
}
