// Runs one soak, seed after seed, and stops at the first that fails: its folders are kept, and its number starts it again.
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'

const folder = path.resolve(import.meta.dirname, '../test/soak')
const isSoak = (file) => fs.readFileSync(path.join(folder, file), 'utf8').includes('export async function soak(')
const known = fs
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
const lasts_s = values.seconds === undefined ? undefined : Number(values.seconds)
const isWhole = (number) => Number.isSafeInteger(number) && number > 0
if (
  positionals.length !== 1 ||
  !known.includes(name) ||
  !isWhole(Number(values.seeds ?? 1)) ||
  !isWhole(first) ||
  !isWhole(lasts_s ?? 1)
) {
  console.error(
    `usage: scripts/soak NAME [--seeds N] [--first SEED] [--seconds S]; NAME is one of: ${known.join(', ')}`,
  )
  process.exit(2)
}

const { soak, end, usual_seeds } = await import(path.join(folder, `${name}.ts`))
const seeds = Number(values.seeds ?? usual_seeds)
const began = performance.now()
const seconds = (since) => ((performance.now() - since) / 1_000).toFixed(1)
const texts = (counts) => Object.entries(counts).map(([what, count]) => `${what} ${count}`)
const all = {}
let isFailed = false
for (let seed = first; seed < first + seeds && !isFailed; seed++) {
  const started = performance.now()
  try {
    const counts = await soak(seed, lasts_s)
    for (const [what, count] of Object.entries(counts)) all[what] = (all[what] ?? 0) + count
    console.log([`seed ${seed}`, 'ok', `${seconds(started)} s`, ...texts(counts)].join('  '))
  } catch (error) {
    console.log([`seed ${seed}`, 'FAILED', `${seconds(started)} s`].join('  '))
    console.error(error)
    isFailed = true
    process.exitCode = 1
  }
}
if (!isFailed) console.log([`${seeds} seeds from ${first}`, 'all ok', `${seconds(began)} s`, ...texts(all)].join('  '))
await end?.()
