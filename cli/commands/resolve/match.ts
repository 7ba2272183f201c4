// Matches records of files with a registry that a run has left, on any machine and with no service.
import { offline } from '../../../daemon/boot/offline.ts'
import { command } from '../../command.ts'
import { show, table } from '../../output.ts'
import { choice, needed, rest, text } from '../../params.ts'
import { progressTeller } from '../../resolve-progress.ts'
import { jsonOption } from '../../site.ts'

const kinds = ['csv', 'jsonl', 'parquet'] as const

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
    registry: needed(text('FILE', 'the registry; it is changed')),
    lens: needed(text('LENS', 'the lens of the run: a file, or a shipped lens')),
    data: needed(rest('FILE', 'the new records; one file or more')),
    source: text('NAME', 'the source that they are of; the name of the file unless said'),
    out: text('DIR', 'a new or empty folder for the results'),
    columns: rest('FIELD=COLUMN', 'where a field is, for columns that the lens does not know'),
    dataFormat: choice('KIND', 'what the files are, whatever their endings', [...kinds, 'tsv']),
    format: choice('KIND', 'of the results; csv unless said', kinds),
    ...jsonOption,
  },
  example: 'platform resolve match --registry entities.jsonl --lens persons --data new-people.csv --source people.csv',
  async run(given, terminal) {
    const { registry, lens, data: files, source, out, columns, dataFormat: dataKind, format, json } = given
    const [{ readLens, withColumns }, { matchFiles }] = await Promise.all([offline.lenses(), offline.matching()])
    const line = progressTeller(() => performance.now())
    const wanted = { lens: withColumns(readLens(lens), columns), registry, files, source, out, dataKind, format }
    const items = await matchFiles(wanted, (told) => terminal.progress(line(told)))
    terminal.progress('')
    show(terminal, json, { items }, () =>
      table(terminal, items, ['source', 'id', 'outcome', 'entity', 'size'], 'there are no records'),
    )
    return 0
  },
})
