// Lands data files: reads them once and for all, and writes a dataset of Parquet with its types, counts and digests.
import { offline } from '../../../daemon/offline/offline.ts'
import { formatLanding } from '../../format/landing.ts'
import { fileFormatOptions, findRecordFiles } from '../../options/record-file-options.ts'
import { jsonOption } from '../../options/site-options.ts'
import { CommandFailure, command, InvalidParamError, type Param } from '../../program/command.ts'
import { duration, required, rest, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'
import { createDeadline, createProgressFormatter } from '../../terminal/resolution-progress.ts'

export const definition = command({
  words: 'ingest land',
  summary: 'Land data files as a dataset of typed columns',
  notes: [
    'Reads text with columns, JSON lines (.jsonl, .ndjson), lists of objects in JSON documents (.json), Parquet (.parquet),',
    'Avro (.avro), repeated elements of XML (.xml), sheets of Excel (.xlsx, .xls), layers of a GeoPackage (.gpkg), zipped',
    'shapefiles (.zip), lines or tables of PDF (.pdf), and images, which land as they are with a row about each.',
    'Encoding, delimiter and quotation marks are found, and reported. The rows of several files follow',
    'each other; a column that a file lacks is empty there.',
    '',
    'Types hold for every row: a column is of a number, a time or a truth value if all of its values are, and text',
    'otherwise, so that no value is lost. --columns-file states types instead: [{"name": "paid_on", "type": "date"}],',
    'of text, boolean, int32, int64, double, date, timestamp and local_timestamp, with "required": true where no row',
    'may lack a value. A record that does not fit, or cannot be read, is left out and kept in rejects.jsonl with its',
    'line, column and reason; more of them than --max-rejects end the command, and nothing is written.',
    '',
    'DIR has data-*.parquet, rejects.jsonl if there are any, and dataset.json: columns, row counts, and the digest of',
    'each file and input. It appears when all of it is on disk. The same files give the same bytes.',
  ].join('\n'),
  positionals: {
    files: required(rest('FILE', 'Data files, folders of them, patterns such as "sales/*.csv", or - for stdin')),
  },
  options: {
    out: required(text('DIR', 'New folder for the dataset')),
    columnsFile: text('FILE', 'JSON list of columns with their types (default: inferred from all rows)'),
    maxRejects: rejectLimit('N|P%', 'Records that may be left out, as a number or a share (default: 1%)'),
    ...fileFormatOptions,
    timeLimit: duration('TIME', 'Time limit (default: none)'),
    ...jsonOption,
  },
  example: 'platform ingest land sales.csv --out sales',
  async run(params, terminal) {
    const { files, out, columnsFile, maxRejects, dataFormat, delimiter, encoding, pointer, sheet, timeLimit, json } =
      params
    const { landDataset } = await offline.landing()
    const stopping = new AbortController()
    const interrupt = () => stopping.abort(new CommandFailure(1, 'interrupted; nothing was written'))
    process.once('SIGINT', interrupt)
    process.once('SIGTERM', interrupt)
    const formatLine = createProgressFormatter(() => performance.now())
    const isLate = createDeadline(timeLimit, () => performance.now())
    try {
      const { dataset, remarks } = await landDataset(
        {
          files: await findRecordFiles(files, terminal),
          ...{ out, columnsFile, limit: maxRejects, signal: stopping.signal },
          format: { kind: dataFormat, delimiter, encoding, pointer, sheet },
          standardInput: () => terminal.inputBytes(),
        },
        (progress) => {
          if (isLate()) throw new CommandFailure(1, `the time limit of ${timeLimit} s has passed`, 'raise --time-limit')
          terminal.progress(formatLine(progress))
        },
      )
      terminal.progress('')
      for (const remark of remarks) terminal.note(remark)
      printResult(terminal, json, dataset, () => formatLanding(terminal, dataset, out))
      return 0
    } finally {
      process.off('SIGINT', interrupt)
      process.off('SIGTERM', interrupt)
    }
  },
})

type LandDataset = Awaited<ReturnType<typeof offline.landing>>['landDataset']
type MaxRejects = Parameters<LandDataset>[0]['limit']

function rejectLimit(metavar: string, help: string): Param<MaxRejects> {
  const parse = (input: string): MaxRejects => {
    const [, number = '', percent] = /^(\d{1,9}|\d{1,3}(?:\.\d{1,6})?%)$/.exec(input)
      ? (/^([\d.]+)(%)?$/.exec(input) ?? [])
      : []
    const value = number === '' ? Number.NaN : Number(number)
    if (Number.isNaN(value) || (percent && value > 100))
      throw new InvalidParamError('it must be a number of records, or a share such as 0.5%')
    return percent ? { share: value / 100 } : { count: value }
  }
  return { isRequired: false, isRest: false, metavar, help, parse, defaultValue: { share: 0.01 } }
}
