// Asks the pairs that say most about a result, one at a time, and keeps each answer.
import { formatCount } from '../../../daemon/kernel/text/format-count.ts'
import { offline } from '../../../daemon/offline/offline.ts'
import { formatLabelCount } from '../../format/label-count.ts'
import { quoteWord } from '../../format/quote-word.ts'
import { askInLines } from '../../label/ask-in-lines.ts'
import type { LabelDialogue } from '../../label/label-dialogue.ts'
import {
  dataOption,
  lensOption,
  planRecordReading,
  recordFileOptions,
  sourceOption,
} from '../../options/record-file-options.ts'
import { seedOption } from '../../options/seed-option.ts'
import { jsonOption } from '../../options/site-options.ts'
import { CommandFailure, command, type ParsedParams } from '../../program/command.ts'
import { integer, text, withDefault } from '../../program/params.ts'
import { discardTypedInput } from '../../terminal/discard-typed-input.ts'
import { line_break, printResult } from '../../terminal/output.ts'
import { createProgressFormatter } from '../../terminal/resolution-progress.ts'
import type { Terminal } from '../../terminal/terminal.ts'

const max_pairs = 10_000
const default_pairs = 100

const options = {
  ...lensOption,
  ...dataOption,
  ...sourceOption,
  labels: text('FILE', 'File of labels: created, or continued (default: none, with --out)'),
  pairs: withDefault(default_pairs, integer('N', 'Answers wanted, earlier ones included', 1, max_pairs)),
  out: text('FILE', 'Write the pairs to a new file of CSV to fill in (default: they are asked)'),
  ...recordFileOptions,
  seed: seedOption,
  ...jsonOption,
}

export const definition = command({
  words: 'resolve label',
  summary: 'Ask the most informative pairs, for `resolve lens train --labels`',
  notes: [
    'Needs a terminal. Keys: y match, n no match, s or u unsure, z or backspace take back, q quit. Each answer is on',
    'disk before the next pair is shown; the same command continues. Pairs come from all scores, most from near the',
    'cut, and are chosen anew after five answers. No two have equal values. About 100 answers take ten minutes. With',
    'TERM=dumb, questions and answers are lines.',
    'With --out, the pairs are written with their values instead, for a spreadsheet: fill in match (1 or 0), and',
    'give the file to `platform resolve lens train --labels`.',
  ].join('\n'),
  options,
  example: 'platform resolve label --lens persons --data people.csv --labels labels.csv',
  async run(params, terminal) {
    if (params.out !== undefined) {
      await writeSheet(params, params.out, terminal)
      return 0
    }
    const { labels, pairs: wanted, json } = params
    if (labels === undefined) throw new CommandFailure(2, '--labels is missing', 'name the file of labels, or --out')
    if (!terminal.canPrompt) {
      const remedy = '--out FILE writes the pairs as a table to fill in'
      throw new CommandFailure(2, 'the questions need a terminal', remedy)
    }
    const [{ openLabelSession }, request, onProgress] = await Promise.all([
      offline.labelSession(),
      readRequest(params, terminal),
      createListener(terminal),
    ])
    const session = await openLabelSession({ ...request, labels, wanted }, onProgress)
    terminal.progress('')
    try {
      await askQuestions(session, labels, terminal)
    } finally {
      session.close()
    }
    const { matches, non_matches, unsure } = session.progress()
    printResult(terminal, json, { file: labels, matches, non_matches, unsure }, () =>
      [
        `${labels} has ${formatLabelCount(matches, non_matches)} and ${formatCount(unsure, 'unsure pair', 'unsure pairs')}.`,
        `Next: platform resolve lens train --lens ${quoteWord(params.lens)} --data ${params.data.map(quoteWord).join(' ')} ${formatTrainingOptions(params, labels)} --out FILE`,
      ].join(line_break),
    )
    return 0
  },
})

type LabelParams = ParsedParams<typeof options>

/** Training reads the records as the questions did. */
function formatTrainingOptions({ source, columns, idField, makeIds }: LabelParams, labels: string): string {
  const given = Object.entries({
    '--source': source,
    '--columns': columns,
    '--id-field': idField,
    '--labels': [labels],
  })
  const words = given.flatMap(([name, values]) => (values.length > 0 ? [name, ...values.map(quoteWord)] : []))
  return [...words, ...(makeIds ? ['--make-ids'] : [])].join(' ')
}

/** On a screen, or line by line where the terminal cannot move its cursor or the results go elsewhere. */
async function askQuestions(dialogue: LabelDialogue, labels: string, terminal: Terminal): Promise<void> {
  if (!terminal.isInteractive || terminal.env.TERM === 'dumb') {
    await discardTypedInput()
    return askInLines(dialogue, terminal)
  }
  const { openLabelScreen } = await import('../../label/open-label-screen.tsx')
  await openLabelScreen({ dialogue, title: `labels of ${labels}`, hasColour: terminal.hasColour })
}

async function writeSheet(params: LabelParams, out: string, terminal: Terminal): Promise<void> {
  const { labels, pairs: wanted, json } = params
  const [{ writeQuestions }, request, onProgress] = await Promise.all([
    offline.questionSheet(),
    readRequest(params, terminal),
    createListener(terminal),
  ])
  const pairs = await writeQuestions({ ...request, labels, wanted, out }, onProgress)
  terminal.progress('')
  printResult(
    terminal,
    json,
    { file: out, pairs },
    () => `${out} has ${pairs} pairs: fill in the column match (1 or 0).`,
  )
}

async function readRequest(params: LabelParams, terminal: Terminal) {
  const { readLens, withColumns } = await offline.lenses()
  const { columns, ...records } = await planRecordReading(params, terminal)
  return { lens: withColumns(readLens(params.lens), columns), ...records, seed: params.seed }
}

function createListener(terminal: Terminal) {
  const formatLine = createProgressFormatter(() => performance.now())
  return (progress: Parameters<typeof formatLine>[0]) => terminal.progress(formatLine(progress))
}
