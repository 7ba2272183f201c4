// Shows where the records of an entity come from: the file and the line of each.

import { offline } from '../../../daemon/offline/offline.ts'
import { traceRegistryEntity } from '../../client/trace-registry-entity.ts'
import { formatEntityOrigin, formatRegistryEntityOrigin } from '../../format/row-origin.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { requireSite } from '../../options/site-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { required, rest, text } from '../../program/params.ts'
import { line_break, printResult } from '../../terminal/output.ts'
import { createProgressFormatter } from '../../terminal/resolution-progress.ts'
import type { Terminal } from '../../terminal/terminal.ts'

export const definition = command({
  words: 'resolve origin',
  summary: 'Show the file and the line that each record of an entity comes from',
  notes: [
    'Without --out, the entity is one of the service. Its records are those that you may read; one that a pipeline landed is',
    'followed to the run, and over the datasets on this machine to the line of the file. So run it at the site.',
    '',
    'With --out, the entity is one of `clusters.csv` in the result folder: its id, or the number of its cluster. Records of',
    'a landed dataset are followed to the files that landed, as `platform ingest origin` does, and over the tasks of the run',
    'that made it. The data files are read again, and must be unchanged. 1,000 records at most are shown.',
  ].join('\n'),
  positionals: { entity: required(text('ENTITY', 'ID of an entity; with --out also the number of a cluster')) },
  options: {
    out: text('DIR', 'Result folder of `platform resolve run` (default: the registry of the service)'),
    data: rest('FILE', 'With --out: data files that were moved since the run'),
    ...serviceOptions,
  },
  example: 'platform resolve origin ent_…',
  async run(params, terminal) {
    const { entity, out, data, json } = params
    if (out !== undefined) {
      const traced = await traceRunEntity({ entity, out, data }, terminal)
      printResult(terminal, json, traced, () => formatEntityOrigin(traced).join(line_break))
      return 0
    }
    if (data.length > 0) throw new CommandFailure(2, '--data needs --out', 'name the result folder')
    const site = { folder: requireSite(params, terminal), env: terminal.env }
    const traced = await traceRegistryEntity(await connectService(params, terminal), site, entity)
    printResult(terminal, json, traced, () => formatRegistryEntityOrigin(traced).join(line_break))
    return 0
  },
})

type EntityTracer = Awaited<ReturnType<typeof offline.entityOrigin>>['traceEntity']

async function traceRunEntity(request: Parameters<EntityTracer>[0], terminal: Terminal): ReturnType<EntityTracer> {
  const { traceEntity } = await offline.entityOrigin()
  const formatLine = createProgressFormatter(() => performance.now())
  const traced = await traceEntity(request, (progress) => terminal.progress(formatLine(progress)))
  terminal.progress('')
  return traced
}
