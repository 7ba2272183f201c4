// Explains the score of a match of the service, or of any two records of a run of files, field by field.
import { offline } from '../../../daemon/offline/offline.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { required, rest, text } from '../../program/params.ts'
import { keepLayout, printResult } from '../../terminal/output.ts'
import { createProgressFormatter } from '../../terminal/resolution-progress.ts'
import type { Terminal } from '../../terminal/terminal.ts'

export const definition = command({
  words: 'resolve explain',
  summary: 'Explain the score of a match, or of any two records of a run, field by field',
  notes: [
    'One id is that of a match of the service. With --out, two ids are those of records of a run of files, compared',
    'or not: SOURCE:ID where sources share ids. The explanation has the values as they are in the data and as they',
    'are compared, the bits of each field, the rules that brought the records together or did not, and their',
    'clusters. The data files are read again, and must be unchanged.',
  ].join('\n'),
  positionals: { ids: required(rest('MATCH|RECORD', 'Id of a match, or with --out the ids of two records')) },
  options: {
    out: text('DIR', 'Result folder of `platform resolve run` (default: a match of the service)'),
    data: rest('FILE', 'Data files that were moved since the run'),
    ...serviceOptions,
  },
  example: 'platform resolve explain match_…',
  async run(params, terminal) {
    const { ids, out, data, json } = params
    const [first, second] = ids
    if (out !== undefined) {
      if (first === undefined || second === undefined || ids.length > 2)
        throw new CommandFailure(2, `--out needs the ids of two records; ${ids.length} given`, explain_records)
      return await explainRecordPair({ out, data, left: first, right: second }, json, terminal)
    }
    if (first === undefined || ids.length > 1)
      throw new CommandFailure(2, `${ids.length} ids of matches given, and one is explained`, explain_records)
    if (data.length > 0) throw new CommandFailure(2, '--data belongs to --out', explain_records)
    const api = await connectService(params, terminal)
    const explanation = await api.call('resolution.entity-match.explain', {
      correlation_id: first,
      columns: limitWidth(terminal),
    })
    printResult(terminal, json, explanation, () => keepLayout(String(explanation.text).trimEnd()))
    return 0
  },
})

const explain_records = 'two records of a run of files: `platform resolve explain ID ID --out DIR`'

type RecordPairNames = {
  readonly out: string
  readonly data: readonly string[]
  readonly left: string
  readonly right: string
}

async function explainRecordPair(names: RecordPairNames, json: boolean, terminal: Terminal): Promise<0> {
  const { explainRecords } = await offline.recordExplanation()
  const formatLine = createProgressFormatter(() => performance.now())
  const explanation = await explainRecords({ ...names, width: limitWidth(terminal) }, (progress) =>
    terminal.progress(formatLine(progress)),
  )
  terminal.progress('')
  const { text: rendered, ...facts } = explanation
  printResult(terminal, json, facts, () => keepLayout(rendered))
  return 0
}

function limitWidth({ width }: Terminal): number {
  return Math.max(40, Math.min(1_000, width))
}
