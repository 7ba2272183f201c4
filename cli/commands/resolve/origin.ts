// Shows where the records of an entity of a run of files come from: the file and the line of each.
import { offline } from '../../../daemon/offline/offline.ts'
import { formatEntityOrigin } from '../../format/row-origin.ts'
import { jsonOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { required, rest, text } from '../../program/params.ts'
import { line_break, printResult } from '../../terminal/output.ts'
import { createProgressFormatter } from '../../terminal/resolution-progress.ts'

export const definition = command({
  words: 'resolve origin',
  summary: 'Show the file and the line that each record of an entity comes from',
  notes: [
    'The entity is one of `clusters.csv` in the result folder: its id, or the number of its cluster. Records of a landed',
    'dataset are followed to the files that landed, as `platform ingest origin` does, and over the tasks of the run that',
    'made it. The data files are read again, and must be unchanged. 1,000 records at most are shown.',
  ].join('\n'),
  positionals: { entity: required(text('ENTITY', 'Id of an entity, or number of a cluster')) },
  options: {
    out: required(text('DIR', 'Result folder of `platform resolve run`')),
    data: rest('FILE', 'Data files that were moved since the run'),
    ...jsonOption,
  },
  example: 'platform resolve origin 17 --out resolved',
  async run({ entity, out, data, json }, terminal) {
    const { traceEntity } = await offline.entityOrigin()
    const formatLine = createProgressFormatter(() => performance.now())
    const traced = await traceEntity({ entity, out, data }, (progress) => terminal.progress(formatLine(progress)))
    terminal.progress('')
    printResult(terminal, json, traced, () => formatEntityOrigin(traced).join(line_break))
    return 0
  },
})
