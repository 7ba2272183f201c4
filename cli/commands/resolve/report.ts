// Writes the report of a run of files as one page of HTML.
import { offline } from '../../../daemon/offline/offline.ts'
import { jsonOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { required, rest, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'
import { createProgressFormatter } from '../../terminal/resolution-progress.ts'

export const definition = command({
  words: 'resolve report',
  summary: 'Write the report of a run of files as one HTML page',
  notes: [
    'The page has the verdict, the pairs and clusters whose decision would change most, which you confirm or reject,',
    'the scores with the cut, precision and recall by threshold, the weights, the pairs of blocking, and records that',
    'cannot be linked. It saves your decisions, with those of the run, for `platform resolve run --decisions`. Decided',
    'pairs are not asked about again. The page needs no network and has values of the data: treat it as the data. The',
    'data files are read again, and must be unchanged.',
  ].join('\n'),
  positionals: { dir: required(text('DIR', 'Result folder of `platform resolve run`')) },
  options: {
    out: text('FILE', 'File of the page; replaces an earlier report (default: report.html in DIR)'),
    data: rest('FILE', 'Data files that were moved since the run'),
    labels: text(
      'FILE',
      'Known truth for precision and recall, as in `platform resolve evaluate` (default: estimates)',
    ),
    decisions: text('FILE', 'Decisions or labels made since the run (default: those of the run alone)'),
    ...jsonOption,
  },
  example: 'platform resolve report resolved',
  async run({ dir, out, data, labels, decisions, json }, terminal) {
    const { writeReport } = await offline.resultReport()
    const formatLine = createProgressFormatter(() => performance.now())
    const written = await writeReport({ folder: dir, out, data, labels, decisions }, (progress) =>
      terminal.progress(formatLine(progress)),
    )
    terminal.progress('')
    printResult(terminal, json, written, () => written.file)
    return 0
  },
})
