// Exports signals as one STIX 2.1 bundle, for other systems.

import { nameUuid } from '../../../daemon/kernel/encoding/name-uuid.ts'
import { escapeLine } from '../../../daemon/kernel/text/escape-line.ts'
import type { ServiceClient } from '../../client/client.ts'
import { writeOutputFile } from '../../file/output-file.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { buildSignalFilter, filterOptions } from '../../options/signal-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { flag, integer, text, withDefault } from '../../program/params.ts'
import { formatFields, type OutputRow, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'signal export',
  summary: 'Export signals as a STIX 2.1 bundle of sightings',
  notes: [
    'Each matching signal that you may see becomes a sighting of its subject, marked with its label. Fields without a STIX',
    'property are in an extension that the bundle defines. --releasable-to leaves out signals that may not be released there.',
  ].join('\n'),
  options: {
    stix: flag('Format of the export; the only one so far'),
    ...filterOptions,
    releasableTo: text('NAME', 'Only signals whose label is releasable to this tenant or nation'),
    out: text('FILE', 'New file for the bundle (default: standard output)'),
    limit: withDefault(10_000, integer('COUNT', 'Maximum number of signals', 1, 1_000_000)),
    ...serviceOptions,
  },
  example: 'platform signal export --stix --since 2026-03-01 --releasable-to FRA --out sightings.json',
  async run(params, terminal) {
    if (!params.stix) throw new CommandFailure(2, 'the format is missing', 'add --stix')
    const api = await connectService(params, terminal)
    const { releasableTo: releasable_to, out } = params
    const filters = { ...buildSignalFilter(params), releasable_to }
    const { bundle, left_out, hasMore } = await exportSignals(api, filters, params.limit)
    const text = escapeLine(JSON.stringify(bundle))
    if (out === undefined) terminal.print(text)
    else {
      writeOutputFile(out, `${text}\n`)
      const summary = { file: out, sightings: countSightings(bundle.objects ?? []), not_releasable: left_out }
      printResult(terminal, params.json, summary, () => formatFields(terminal, summary))
    }
    if (hasMore)
      terminal.note(`more than ${params.limit} signals match: raise --limit, or give --until for earlier ones`)
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

/** Joins the pages into one bundle, each object once. The id of a bundle of several pages derives from the ids of the pages. */
async function exportSignals(api: ServiceClient, filters: OutputRow, limit: number) {
  const pages: SignalExportPage[] = []
  const objects = new Map<unknown, OutputRow>()
  let requested = 0
  let cursor: string | undefined
  do {
    const size = Math.min(500, limit - requested)
    const page = (await api.call('intelligence.signal.export', {
      ...{ ...filters, limit: size },
      ...(cursor === undefined ? {} : { cursor }),
    })) as SignalExportPage
    for (const object of page.bundle.objects ?? []) objects.set(object.id, object)
    pages.push(page)
    requested += size
    cursor = page.next_cursor
  } while (cursor !== undefined && requested < limit)
  const bundle: ExportedStixBundle = {
    ...mergeBundles(pages),
    ...(objects.size > 0 ? { objects: [...objects.values()] } : {}),
  }
  const left_out = pages.reduce((sum, page) => sum + page.left_out, 0)
  return { bundle, left_out, hasMore: cursor !== undefined }
}

function mergeBundles(pages: readonly SignalExportPage[]): ExportedStixBundle {
  const [first = '', ...others] = pages.map(({ bundle }) => bundle.id)
  const id = others.length === 0 ? first : `bundle--${nameUuid(first.slice('bundle--'.length), JSON.stringify(others))}`
  return { type: 'bundle', id }
}
