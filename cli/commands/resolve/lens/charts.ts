// Shows what a lens comes to on data: pairs by blocking, worth of levels, scores with their cut.
import { offline } from '../../../../daemon/offline/offline.ts'
import { seedOption } from '../../../options/seed-option.ts'
import { jsonOption } from '../../../options/site-options.ts'
import { command } from '../../../program/command.ts'
import { flag, required, rest, text } from '../../../program/params.ts'
import { colourText, escapeControls, printResult } from '../../../terminal/output.ts'
import { createProgressFormatter } from '../../../terminal/resolution-progress.ts'

export const definition = command({
  words: 'resolve lens charts',
  summary: 'draw the weights, the threshold and the blocking of a lens on data',
  notes: [
    'Drawn with letters here; --out writes weights.svg, threshold.svg and blocking.svg. Weights that the lens does not give are',
    'learnt from the data first. With --blocking alone, pairs are counted and none is made: quick, whatever the size.',
  ].join('\n'),
  options: {
    lens: required(text('LENS', 'a file, or a shipped lens: persons, bibliography, products')),
    data: required(rest('FILE', 'the records; one file or more')),
    out: text('DIR', 'a new or empty folder for the pictures'),
    blocking: flag('count what blocking brings together, and stop there'),
    columns: rest('FIELD=COLUMN', 'where a field is, for columns that the lens does not know'),
    seed: seedOption,
    ...jsonOption,
  },
  example: 'platform resolve lens charts --lens persons --data people.csv --out charts',
  async run({ lens, data, out, blocking, columns, seed, json }, terminal) {
    const { drawLensCharts, formatLensCharts } = await offline.lensCharts()
    const line = createProgressFormatter(() => performance.now())
    const wanted = { lens, files: data, columns, out, seed, isBlockingOnly: blocking }
    const { charts, ...drawn } = await drawLensCharts(wanted, (told) => terminal.progress(line(told)))
    terminal.progress('')
    printResult(terminal, json, drawn, () => {
      const blocks = formatLensCharts(charts, terminal.width).map((chart) => {
        const [title = '', ...lines] = escapeControls(chart).split('\n')
        return [colourText(terminal, 'bold', title), ...lines].join('\n')
      })
      const told = drawn.blocking.flatMap(({ rule, left_out }) =>
        left_out.map(({ key, records }) => escapeControls(`left out: ${records} records share ${rule} = ${key}`)),
      )
      return [...blocks, ...(told.length > 0 ? [told.join('\n')] : []), ...drawn.files].join('\n\n')
    })
    return 0
  },
})
