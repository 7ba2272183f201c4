// Measures landing: rows a second, processor time and peak memory for each format, beside pandas and DuckDB, which read, type and
// write the same file to Parquet in the same run.
import { closeSync, existsSync, mkdtempSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Figure } from '../support/bench/figure.ts'
import { measureProcess, type ProcessCost } from '../support/bench/measure-process.ts'
import { type SeededRandom, seededRandom } from '../support/random/seeded-random.ts'
import { repositoryRoot } from '../support/repository/source-tree.ts'

const executable = path.join(repositoryRoot, 'dist/platform')
const rows = Number(process.env.BENCH_ROWS ?? 1_000_000)
/** A workbook of openpyxl takes minutes to write and to read. */
const sheet_rows = Number(process.env.BENCH_SHEET_ROWS ?? rows)
/** Copies of the rows of the file of text that is larger. */
const copies = Number(process.env.BENCH_COPIES ?? 10)
const max_memory_mb = 300
const max_times_duckdb = 4

type Peer = 'pandas' | 'duckdb'

/** Read, type and write to Parquet, as the manual of each program advises. */
const programs: Readonly<Record<string, Readonly<Partial<Record<Peer, string>>>>> = {
  csv: {
    pandas: 'import pandas as pd; pd.read_csv(SOURCE, parse_dates=["paid_on", "created"]).to_parquet(TARGET)',
    duckdb: "import duckdb; duckdb.sql(f\"copy (select * from read_csv('{SOURCE}')) to '{TARGET}' (format parquet)\")",
  },
  jsonl: {
    pandas:
      'import pandas as pd; pd.read_json(SOURCE, lines=True, convert_dates=["paid_on", "created"]).to_parquet(TARGET)',
    duckdb: "import duckdb; duckdb.sql(f\"copy (select * from read_json('{SOURCE}')) to '{TARGET}' (format parquet)\")",
  },
  parquet: {
    pandas: 'import pandas as pd; pd.read_parquet(SOURCE).to_parquet(TARGET)',
    duckdb:
      "import duckdb; duckdb.sql(f\"copy (select * from read_parquet('{SOURCE}')) to '{TARGET}' (format parquet)\")",
  },
  xlsx: { pandas: 'import pandas as pd; pd.read_excel(SOURCE).to_parquet(TARGET)' },
}

/** BENCH_PYTHON: the Python of an environment with pandas, pyarrow, openpyxl and duckdb. BENCH_FORMATS: some of the formats. */
export async function bench(report: (figure: Figure) => void): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-ingest-'))
  const python = process.env.BENCH_PYTHON
  if (python === undefined)
    process.stderr.write(
      'SKIPPED: pandas and DuckDB, and .xlsx: BENCH_PYTHON must name a Python with duckdb, pandas, pyarrow and openpyxl\n',
    )
  const chosen = process.env.BENCH_FORMATS?.split(',')
  const isChosen = (format: string) => chosen === undefined || chosen.includes(format)
  try {
    writeRows(folder, 1)
    for (const format of ['csv', 'jsonl', 'parquet', 'xlsx'].filter(isChosen)) {
      const source = path.join(folder, `rows.${format}`)
      if (format === 'parquet') await makeParquet(folder, source)
      if (format === 'xlsx' && python !== undefined) await makeWorkbook(python, folder, source)
      if (existsSync(source)) await measureFormat(report, folder, format, python)
    }
    if (isChosen('large')) await measureLarge(report, folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function measureFormat(
  report: (figure: Figure) => void,
  folder: string,
  format: string,
  python: string | undefined,
): Promise<void> {
  const source = path.join(folder, `rows.${format}`)
  const count = format === 'xlsx' ? sheet_rows : rows
  const peers: Partial<Record<Peer, ProcessCost>> = {}
  for (const peer of ['pandas', 'duckdb'] as const) {
    const program = programs[format]?.[peer]
    if (python === undefined || program === undefined) continue
    const target = path.join(folder, `${peer}.parquet`)
    peers[peer] = await measureProcess(python, [
      '-c',
      `SOURCE, TARGET = ${JSON.stringify(source)}, ${JSON.stringify(target)}; ${program}`,
    ])
    report({ figure: `${format} ${peer}`, value: peers[peer].processor_s, unit: 's' })
    report({ figure: `${format} ${peer} memory`, value: peers[peer].peak_mb, unit: 'MB' })
  }
  const { processor_s, peak_mb, elapsed_s } = await land(folder, source)
  const { pandas, duckdb } = peers
  const isText = format === 'csv' || format === 'jsonl'
  report({
    ...{ figure: `${format} processor`, value: processor_s, unit: 's' },
    ...(pandas && { beside: Number(pandas.processor_s.toPrecision(4)) }),
    ...(pandas && isText && { atMost: Number(pandas.processor_s.toPrecision(4)) }),
  })
  if (duckdb)
    report({
      ...{ figure: `${format} of DuckDB`, value: processor_s / duckdb.processor_s, unit: 'times' },
      ...(isText && { atMost: max_times_duckdb }),
    })
  report({ figure: `${format} rows`, value: count / elapsed_s, unit: '1/s' })
  report({ figure: `${format} memory`, value: peak_mb, unit: 'MB', atMost: max_memory_mb })
}

async function land(folder: string, source: string): Promise<ProcessCost & { readonly elapsed_s: number }> {
  const out = path.join(folder, 'landed')
  rmSync(out, { recursive: true, force: true })
  const start = performance.now()
  const cost = await measureProcess(executable, ['ingest', 'land', source, '--out', out])
  return { ...cost, elapsed_s: (performance.now() - start) / 1_000 }
}

/** The same rows again and again: memory must not grow with them. */
async function measureLarge(report: (figure: Figure) => void, folder: string): Promise<void> {
  rmSync(path.join(folder, 'rows.csv'), { force: true })
  writeRows(folder, copies)
  const { processor_s, peak_mb, elapsed_s } = await land(folder, path.join(folder, 'rows.csv'))
  report({ figure: `csv x${copies} processor`, value: processor_s, unit: 's' })
  report({ figure: `csv x${copies} rows`, value: (rows * copies) / elapsed_s, unit: '1/s' })
  report({ figure: `csv x${copies} memory`, value: peak_mb, unit: 'MB', atMost: max_memory_mb })
}

async function makeParquet(folder: string, target: string): Promise<void> {
  await land(folder, path.join(folder, 'rows.csv'))
  renameSync(path.join(folder, 'landed/data-00001.parquet'), target)
}

async function makeWorkbook(python: string, folder: string, target: string): Promise<void> {
  const program = [
    'import csv, itertools, openpyxl',
    'book = openpyxl.Workbook(write_only=True); sheet = book.create_sheet()',
    `[sheet.append(row) for row in itertools.islice(csv.reader(open(${JSON.stringify(path.join(folder, 'rows.csv'))}, encoding="utf-8")), ${sheet_rows + 1})]`,
    `book.save(${JSON.stringify(target)})`,
  ]
  await measureProcess(python, ['-c', program.join('\n')])
}

const cities = ['Berlin', 'Hamburg', 'München', 'Köln', 'Paris', 'New York', 'Lyon', 'Milano']
const names = ['id', 'name', 'city', 'amount', 'score', 'paid_on', 'created', 'active', 'note'] as const

/** Writes rows of typical columns as CSV, and those of one copy as JSON lines too: 68 and 144 bytes a row. */
function writeRows(folder: string, count: number): void {
  const files = count === 1 ? ['rows.csv', 'rows.jsonl'] : ['rows.csv']
  const [csv = 0, jsonl] = files.map((file) => openSync(path.join(folder, file), 'w'))
  writeSync(csv, `${names.join(',')}\n`)
  for (let copy = 0; copy < count; copy++) {
    const random = seededRandom(1)
    for (let from = 0; from < rows; from += 10_000) {
      const part = Array.from({ length: Math.min(10_000, rows - from) }, (_, row) => inventRow(random, from + row))
      writeSync(csv, part.map((row) => `${row.map(quoteCell).join(',')}\n`).join(''))
      if (jsonl !== undefined) writeSync(jsonl, part.map((row) => `${JSON.stringify(toObject(row))}\n`).join(''))
    }
  }
  for (const file of [csv, jsonl]) if (file !== undefined) closeSync(file)
}

type RowCell = string | number | boolean | null

function inventRow(random: SeededRandom, id: number): RowCell[] {
  const pad = (value: number) => String(value).padStart(2, '0')
  const day = (year: number) => `${year}-${pad(1 + random.below(12))}-${pad(1 + random.below(28))}`
  const time = () => `${pad(random.below(24))}:${pad(random.below(60))}:${pad(random.below(60))}`
  const order = `order ${random.below(1_000_000_000)}`
  return [
    id,
    `Name${random.below(2_000)} Name${random.below(2_000)}`,
    cities[random.below(cities.length)] ?? '',
    random.below(1_000_000) / 100,
    random.below(101),
    day(2010 + random.below(15)),
    `${day(2024)}T${time()}Z`,
    random.below(2) === 1,
    [null, null, null, `${order}, late`][random.below(12)] ?? order,
  ]
}

function quoteCell(cell: RowCell): string {
  const text = String(cell ?? '')
  return text.includes(',') ? `"${text}"` : text
}

function toObject(row: readonly RowCell[]): Record<string, RowCell> {
  return Object.fromEntries(names.map((name, at) => [name, row[at] ?? null]))
}
