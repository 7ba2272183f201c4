// Shows what a lens comes to on data: pairs by blocking, worth of levels, scores with their cut.
import { offline } from '../../../../daemon/boot/offline.ts'
import { command } from '../../../command.ts'
import { paint, printable, show } from '../../../output.ts'
import { flag, needed, rest, text } from '../../../params.ts'
import { progressTeller } from '../../../resolve-progress.ts'
import { seedOption } from '../../../seed-option.ts'
import { jsonOption } from '../../../site.ts'

export const definition = command({
  words: 'resolve lens charts',
  summary: 'draw the weights, the threshold and the blocking of a lens on data',
  notes: [
    'Drawn with letters here; --out writes weights.svg, threshold.svg and blocking.svg. Weights that the lens does not give are',
    'learnt from the data first. With --blocking alone, pairs are counted and none is made: quick, whatever the size.',
  ].join('\n'),
  options: {
    lens: needed(text('LENS', 'a file, or a shipped lens: persons, bibliography, products')),
    data: needed(rest('FILE', 'the records; one file or more')),
    out: text('DIR', 'a new or empty folder for the pictures'),
    blocking: flag('count what blocking brings together, and stop there'),
    columns: rest('FIELD=COLUMN', 'where a field is, for columns that the lens does not know'),
    seed: seedOption,
    ...jsonOption,
  },
  example: 'platform resolve lens charts --lens persons --data people.csv --out charts',
  async run({ lens, data, out, blocking, columns, seed, json }, terminal) {
    const { drawLens, asText } = await offline.lensPictures()
    const line = progressTeller(() => performance.now())
    const wanted = { lens, files: data, columns, out, seed, isBlockingOnly: blocking }
    const { charts, ...drawn } = await drawLens(wanted, (told) => terminal.progress(line(told)))
    terminal.progress('')
    show(terminal, json, drawn, () => {
      const blocks = asText(charts, terminal.width).map((chart) => {
        const [title = '', ...lines] = printable(chart).split('\n')
        return [paint(terminal, 'bold', title), ...lines].join('\n')
      })
      const told = drawn.blocking.flatMap(({ rule, left_out }) =>
        left_out.map(({ key, records }) => printable(`left out: ${records} records share ${rule} = ${key}`)),
      )
      return [...blocks, ...(told.length > 0 ? [told.join('\n')] : []), ...drawn.files].join('\n\n')
    })
    return 0
  },
})
