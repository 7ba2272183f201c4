// Draws the blocking, weights and threshold of a lens on data.
import { offline } from '../../../../daemon/offline/offline.ts'
import {
  dataOption,
  lensOption,
  planRecordReading,
  recordFileOptions,
  thresholdOption,
} from '../../../options/record-file-options.ts'
import { seedOption } from '../../../options/seed-option.ts'
import { jsonOption } from '../../../options/site-options.ts'
import { command } from '../../../program/command.ts'
import { flag, text } from '../../../program/params.ts'
import { colourText, line_break, paragraph_break, printResult } from '../../../terminal/output.ts'
import { createProgressFormatter } from '../../../terminal/resolution-progress.ts'

export const definition = command({
  words: 'resolve lens charts',
  summary: 'Draw the weights, threshold and blocking of a lens on data',
  notes: [
    'Draws with characters here; --out writes weights.svg, threshold.svg and blocking.svg. Weights that the lens',
    'does not give are learnt from the data first. With --blocking alone, pairs are counted but not scored: quick',
    'at any size.',
  ].join('\n'),
  options: {
    ...lensOption,
    ...dataOption,
    out: text('DIR', 'New or empty folder for the charts as SVG (default: nothing is written)'),
    blocking: flag('Only count the pairs of blocking'),
    ...recordFileOptions,
    ...thresholdOption,
    seed: seedOption,
    ...jsonOption,
  },
  example: 'platform resolve lens charts --lens persons --data people.csv --out charts',
  async run(params, terminal) {
    const { lens, out, blocking, seed, json } = params
    const { drawLensCharts, formatLensCharts } = await offline.lensCharts()
    const formatLine = createProgressFormatter(() => performance.now())
    const request = { lens, ...(await planRecordReading(params, terminal)), out, seed, isBlockingOnly: blocking }
    const { charts, ...summary } = await drawLensCharts(request, (progress) => terminal.progress(formatLine(progress)))
    terminal.progress('')
    printResult(terminal, json, summary, () => {
      const blocks = formatLensCharts(charts, terminal.width).map((chart) => {
        const [title = '', ...lines] = chart.split('\n')
        return [colourText(terminal, 'bold', title), ...lines].join(line_break)
      })
      const remarks = summary.blocking.flatMap(({ rule, left_out }) =>
        left_out.map(({ key, records }) => `left out: ${records} records share ${rule} = ${key}`),
      )
      return [...blocks, ...(remarks.length > 0 ? [remarks.join(line_break)] : []), ...summary.files].join(
        paragraph_break,
      )
    })
    return 0
  },
})
