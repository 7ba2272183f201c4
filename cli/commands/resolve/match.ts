// Matches records of files with a registry that a run has left, on any machine and with no service.
import { offline } from '../../../daemon/offline/offline.ts'
import { jsonOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { choice, required, rest, text } from '../../program/params.ts'
import { formatTable, printResult } from '../../terminal/output.ts'
import { createProgressFormatter } from '../../terminal/resolution-progress.ts'

const resultKinds = ['csv', 'jsonl', 'parquet'] as const

export const definition = command({
  words: 'resolve match',
  summary: 'match new records of files with a registry, without a run',
  notes: [
    'The registry is one that `platform resolve run --registry FILE --keep-records` has made. Each record joins an entity or is a',
    'new one, by the weights of that run; entities keep their ids, and decisions of that run hold. A record that is known by',
    'source and id takes the place of what it said. The same records again change nothing. With `--out`: matched (source,',
    'id, outcome, entity, size), pairs as of a run, and match.json, which is written last.',
  ].join('\n'),
  options: {
    registry: required(text('FILE', 'the registry; it is changed')),
    lens: required(text('LENS', 'the lens of the run: a file, or a shipped lens')),
    data: required(rest('FILE', 'the new records; one file or more')),
    source: text('NAME', 'the source that they are of; the name of the file unless said'),
    out: text('DIR', 'a new or empty folder for the results'),
    columns: rest('FIELD=COLUMN', 'where a field is, for columns that the lens does not know'),
    dataFormat: choice('KIND', 'what the files are, whatever their endings', [...resultKinds, 'tsv']),
    format: choice('KIND', 'of the results; csv unless said', resultKinds),
    ...jsonOption,
  },
  example: 'platform resolve match --registry entities.jsonl --lens persons --data new-people.csv --source people.csv',
  async run(given, terminal) {
    const { registry, lens, data: files, source, out, columns, dataFormat: dataKind, format, json } = given
    const [{ readLens, withColumns }, { matchFiles }] = await Promise.all([offline.lenses(), offline.fileMatching()])
    const line = createProgressFormatter(() => performance.now())
    const wanted = { lens: withColumns(readLens(lens), columns), registry, files, source, out, dataKind, format }
    const items = await matchFiles(wanted, (told) => terminal.progress(line(told)))
    terminal.progress('')
    printResult(terminal, json, { items }, () =>
      formatTable(terminal, items, ['source', 'id', 'outcome', 'entity', 'size'], 'there are no records'),
    )
    return 0
  },
})
