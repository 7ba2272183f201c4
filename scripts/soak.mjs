// Runs one soak test seed by seed, and stops at the first failure: its folders stay, and its seed repeats it.
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'

const folder = path.resolve(import.meta.dirname, '../test/soak')
const isSoak = (file) => fs.readFileSync(path.join(folder, file), 'utf8').includes('export async function soak(')
const soaks = fs
  .readdirSync(folder)
  .filter(isSoak)
  .map((file) => path.basename(file, '.ts'))
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: 'string' },
    first: { type: 'string', default: '1' },
    seconds: { type: 'string' },
  },
})
const [name] = positionals
const first = Number(values.first)
const duration_s = values.seconds === undefined ? undefined : Number(values.seconds)
const isWhole = (number) => Number.isSafeInteger(number) && number > 0
if (
  positionals.length !== 1 ||
  !soaks.includes(name) ||
  !isWhole(Number(values.seeds ?? 1)) ||
  !isWhole(first) ||
  !isWhole(duration_s ?? 1)
) {
  console.error(
    `usage: scripts/soak NAME [--seeds N] [--first SEED] [--seconds S]; NAME is one of: ${soaks.join(', ')}`,
  )
  process.exit(2)
}

const { soak, end, usual_seeds } = await import(path.join(folder, `${name}.ts`))
const seeds = Number(values.seeds ?? usual_seeds)
const start_ms = performance.now()
const seconds = (since) => ((performance.now() - since) / 1_000).toFixed(1)
const texts = (counts) => Object.entries(counts).map(([name, count]) => `${name} ${count}`)
const totals = {}
let isFailed = false
for (let seed = first; seed < first + seeds && !isFailed; seed++) {
  const seedStart_ms = performance.now()
  try {
    const counts = await soak(seed, duration_s)
    for (const [name, count] of Object.entries(counts)) totals[name] = (totals[name] ?? 0) + count
    console.log([`seed ${seed}`, 'ok', `${seconds(seedStart_ms)} s`, ...texts(counts)].join('  '))
  } catch (error) {
    console.log([`seed ${seed}`, 'FAILED', `${seconds(seedStart_ms)} s`].join('  '))
    console.error(error)
    isFailed = true
    process.exitCode = 1
  }
}
if (!isFailed)
  console.log([`${seeds} seeds from ${first}`, 'all ok', `${seconds(start_ms)} s`, ...texts(totals)].join('  '))
await end?.()
